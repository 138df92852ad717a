import { type AdminRoute, type HttpResponse } from '../../../kernel/ports/http.ts'

const escape = (text: string): string => text.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`)

/** What there is, for a person with a browser. */
export function indexPage(routes: readonly AdminRoute[]): HttpResponse {
  const rows = routes.map((route) => {
    const path = escape(route.path)
    const name = route.method === 'GET' ? `<a href="${path}">${path}</a>` : `${route.method} ${path}`
    return `<tr><td>${name}</td><td>${escape(route.summary)}</td></tr>`
  })
  const body = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>millrace</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui;margin:3rem auto;max-width:46rem;padding:0 1rem}
td{padding:.3rem 1.5rem .3rem 0;vertical-align:top}a{font-family:ui-monospace,monospace}</style></head>
<body><h1>millrace</h1><p>The operators' HTTP of this broker.</p><table>${rows.join('')}</table></body></html>
`
  return { status: 200, contentType: 'text/html; charset=utf-8', body }
}
