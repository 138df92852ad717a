/** Collects the lines of generated functions, and the constants they use. */
export class SourceLines {
  private readonly functions: string[] = []
  private readonly constants: string[] = []

  addFunction(head: string, body: readonly string[]): void {
    this.functions.push([`function ${head} {`, ...body.map(line => `  ${line}`), '}'].join('\n'))
  }

  /** Gives the name of a new constant. */
  addConstant(expression: string): string {
    const name = `constant${this.constants.length}`
    this.constants.push(`const ${name} = ${expression}`)
    return name
  }

  /** The text of a function body that returns the function named `root`. */
  program(root: string): string {
    return ["'use strict'", ...this.constants, ...this.functions, `return ${root}`].join('\n')
  }
}
