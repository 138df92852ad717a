import { type AdminRoute, type HttpResponse } from '../../kernel/ports/http.ts'
import { type BrokerState, type HealthCheck } from '../../kernel/ports/lifecycle.ts'

const json = (status: number, body: object): HttpResponse => ({ status, contentType: 'application/json', body: `${JSON.stringify(body)}\n` })

/** `/healthz`: 503 when a part has failed and the process should be replaced. Degraded is still 200. */
export function healthRoute(checks: readonly HealthCheck[]): AdminRoute {
  return {
    method: 'GET', path: '/healthz', summary: 'whether the broker is alive: 200, or 503 when a part of it has failed',
    handle: async () => {
      const parts = checks.map((each) => ({ name: each.name, ...each.check() }))
      const failed = parts.some((part) => part.state === 'failed')
      const degraded = parts.some((part) => part.state === 'degraded')
      return json(failed ? 503 : 200, { state: failed ? 'failed' : degraded ? 'degraded' : 'ok', parts })
    },
  }
}

/** `/readyz`: 200 while clients may be sent here. */
export function readyRoute(checks: readonly HealthCheck[], broker: BrokerState | undefined): AdminRoute {
  return {
    method: 'GET', path: '/readyz', summary: 'whether clients may be sent here: 200, or 503 while starting, stopping or failed',
    handle: async () => {
      const started = broker?.ready() ?? true
      const failed = checks.filter((each) => each.check().state === 'failed').map((each) => each.name)
      const ready = started && failed.length === 0
      return json(ready ? 200 : 503, { ready, failed })
    },
  }
}
