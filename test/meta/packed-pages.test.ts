import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './source-tree.ts'

const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] }

/** What npm packs of a checkout, but for dist/, which has no pages. */
const packed = files.filter((name) => name !== 'dist').flatMap((pattern) => globbed(pattern))
const pages = packed.filter((path) => path.endsWith('.md'))

describe('the pages of the package', () => {
  it('are those of docs, of the checkout and of each plugin', () => {
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md', 'docs/config.md', 'docs/decisions/README.md', 'src/plugins/protocol-kafka/README.md']))
  })

  it('link to pages that are packed, too, and to headings that they have', () => {
    const broken = pages.flatMap((page) => linksOf(page).filter(({ to, heading }) => !packed.includes(to) || (heading !== undefined && !headingsOf(to).includes(heading)))
      .map(({ to, heading }) => `${page}: ${to}${heading === undefined ? '' : `#${heading}`}`))
    expect(broken).toEqual([])
  })
})

/** The files that an entry of package.json's `files` stands for: a file, a folder with all in it, or a path with stars for names. */
function globbed(pattern: string): string[] {
  const [top = ''] = pattern.split('/')
  const inside = !existsSync(join(root, top)) ? [] : statSync(join(root, top)).isFile() ? [top]
    : readdirSync(join(root, top), { recursive: true, withFileTypes: true }).filter((each) => each.isFile()).map((each) => relative(root, join(each.parentPath, each.name)))
  const matches = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[^/]+')}(?:/|$)`)
  return inside.filter((path) => matches.test(path))
}

function linksOf(page: string): { readonly to: string, readonly heading: string | undefined }[] {
  const text = withoutCode(readFileSync(join(root, page), 'utf8'))
  return [...text.matchAll(/\]\(([^)#\s]*)(?:#([^)\s]*))?\)/g)].filter(([, path]) => !/^[a-z]+:/.test(path!))
    .map(([, path, heading]) => ({ to: path === '' ? page : normalize(relative(root, join(root, dirname(page), path!))), heading }))
}

/** As GitHub and npm make anchors of them. */
const headingsOf = (page: string): string[] => [...withoutCode(readFileSync(join(root, page), 'utf8')).matchAll(/^#+ (.*)$/gm)]
  .map(([, title]) => title!.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-'))

const withoutCode = (text: string): string => text.replaceAll(/^```[\s\S]*?^```/gm, '')
