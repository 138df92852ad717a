import tseslint from 'typescript-eslint'

/** Ambient time, randomness, timers and I/O: only src/platform may touch them; everything else asks a port. */
const ambientGlobals = [
  ['Date', 'Ask the Clock port for time; pass times in as numbers.'],
  ['performance', 'Ask the Clock port.'],
  ['setTimeout', 'Ask the Timers port.'],
  ['setInterval', 'Ask the Timers port.'],
  ['setImmediate', 'Ask the Timers port (soon).'],
  ['clearTimeout', 'Cancel the Timer that the Timers port gave.'],
  ['clearInterval', 'Cancel the Timer that the Timers port gave.'],
  ['clearImmediate', 'Cancel the Timer that the Timers port gave.'],
  ['globalThis', 'What is ambient is asked of a port, by whatever name.'],
  ['global', 'What is ambient is asked of a port, by whatever name.'],
  ['fetch', 'Ask the Network port.'],
  ['WebSocket', 'Ask the Network port.'],
  ['crypto', 'Ask the Random port.'],
  ['process', 'Only platform and cli touch the process.'],
  ['WeakRef', 'Garbage collection is not deterministic.'],
  ['FinalizationRegistry', 'Garbage collection is not deterministic.'],
  ['console', 'Ask the Logger port.'],
].map(([name, message]) => ({ name, message }))

const ambientProperties = [
  { object: 'Math', property: 'random', message: 'Ask the Random port.' },
  { object: 'AbortSignal', property: 'timeout', message: 'Ask the Timers port.' },
]

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', 'coverage/**', 'data/**', 'test/compat/.cache/**', 'test/**/fixtures/**'] },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unnecessary-type-assertion': 'off',
      '@typescript-eslint/require-await': 'off',
      'no-restricted-syntax': ['error', { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' }],
      eqeqeq: ['error', 'always'],
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'max-lines': ['error', { max: 400, skipBlankLines: false, skipComments: false }],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true, IIFEs: false }],
      'no-restricted-globals': ['error', ...ambientGlobals],
      'no-restricted-properties': ['error', ...ambientProperties],
    },
  },
  {
    // Data tables: rows, not logic. Listed one by one.
    files: [
      'src/kernel/config/*-table.ts',
      'src/kernel/config/*-rows.ts',
      'src/kernel/errors/error-table.ts',
      'src/wire/messages/*.ts',
    ],
    rules: { 'max-lines': 'off' },
  },
  {
    files: ['src/platform/**/*.ts', 'src/cli/**/*.ts'],
    rules: { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off' },
  },
  {
    files: ['src/**/core/**/*.ts', 'src/kernel/record/**/*.ts', 'src/kernel/log/**/*.ts', 'src/kernel/consensus-log/**/*.ts', 'src/wire/**/*.ts', 'src/base/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...['AwaitExpression', ':function[async=true]', 'ForOfStatement[await=true]'].map((selector) => ({ selector, message: 'Cores are synchronous: time, randomness and I/O come in as arguments.' })),
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
      ],
      'no-restricted-imports': ['error', { patterns: [{ group: ['node:*'], message: 'Cores import no node module.' }] }],
    },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts', 'examples/**/*.ts', 'scripts/**/*.ts', 'vitest.config.ts'],
    rules: {
      'max-lines': ['error', { max: 500 }],
      'no-restricted-syntax': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  // Plain JavaScript, which runs before there is a compiler: no types to ask for.
  { files: ['**/*.mjs', 'eslint.config.js'], ...tseslint.configs.disableTypeChecked },
  { files: ['eslint.config.js'], rules: { 'no-restricted-syntax': 'off' } },
)
