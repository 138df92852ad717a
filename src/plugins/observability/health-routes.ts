import { type AdminRoute, type HttpResponse } from '../../kernel/ports/http.ts'
import { reasonOf } from '../../kernel/errors/index.ts'
import { type BrokerState, type Health, type HealthCheck } from '../../kernel/ports/lifecycle.ts'

const json = (status: number, body: object): HttpResponse => ({ status, contentType: 'application/json', body: `${JSON.stringify(body)}\n` })

/** A check that throws knows nothing of its part, which is no reason to keep the others from being seen. */
function healthOf(check: HealthCheck): Health {
  try {
    return check.check()
  } catch (error) {
    return { state: 'failed', detail: `its check failed: ${reasonOf(error)}; the plugin that contributes it is at fault` }
  }
}

/** `/healthz`: 503 when a part has failed and the process should be replaced. Degraded is still 200. */
export function healthRoute(checks: readonly HealthCheck[]): AdminRoute {
  return {
    method: 'GET', path: '/healthz', summary: 'whether the broker is alive: 200, or 503 when a part of it has failed',
    handle: async () => {
      const parts = checks.map((each) => ({ name: each.name, ...healthOf(each) }))
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
      const failed = checks.filter((each) => healthOf(each).state === 'failed').map((each) => each.name)
      const ready = started && failed.length === 0
      return json(ready ? 200 : 503, { ready, failed })
    },
  }
}
