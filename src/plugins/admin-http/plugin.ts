import { definePlugin } from '../../kernel/plugin/define-plugin.ts'
import { every } from '../../kernel/plugin/token.ts'
import { AdminRoute, HttpServer } from '../../kernel/ports/http.ts'
import { Lifecycle, ServedEndpoint } from '../../kernel/ports/lifecycle.ts'
import { Logger } from '../../kernel/ports/telemetry.ts'
import { AdminServer } from './admin-server.ts'
import { adminHttpConfig } from './config.ts'

export const plugin = definePlugin({
  name: 'admin-http',
  contract: 1,
  summary: 'The operators\' HTTP: metrics, health, and what other plugins contribute.',
  contributes: [ServedEndpoint],
  requires: [HttpServer, every(AdminRoute), Logger],
  config: adminHttpConfig,
  register({ provide }, config) {
    provide([Lifecycle, ServedEndpoint], [HttpServer, every(AdminRoute), Logger],
      (server, routes, logger) => new AdminServer(config, server, routes, logger))
  },
})
