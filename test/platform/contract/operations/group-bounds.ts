import { STANDING_QUEUE } from '../bench.ts'
import { flag, integer, list, name, oneOf, rare, text } from '../bounds.ts'
import type { Bound } from '../operation.ts'
import { networking } from './fixtures.ts'

const GPU = 'd00a0ef2-a7ca-4e73-a975-edbd8bf54ded'
const MEGABYTES = 1_073_741_824

/** Texts of so many characters, in an object of texts. */
const secret = (member: string, most: number, within: object): Bound => text(member, 1, most, within)

/** Of each kind there may be one: null takes away those that were there. */
const only = (kinds: readonly string[], kind: object) => ({
  ...Object.fromEntries(kinds.map((other) => [other, null])),
  ...kind,
})
const destinations = ['axiom', 'datadog', 'new_relic', 'splunk', 'http', 'tcp']
const inLogging = (destination: object) => ({ container: { logging: only(destinations, destination) } })
const http = { host: 'h', port: 1, compression: 'none', format: 'json' }
const word = (destination: string, member: string, whole: object): Bound =>
  secret(`container.logging.${destination}.${member}`, 1000, inLogging({ [destination]: whole }))
const pairs = (destination: string, member: string, whole: object): readonly Bound[] => {
  const path = `container.logging.${destination}.${member}`
  const within = inLogging({ [destination]: { ...whole, [member]: [{ name: 'n', value: 'v' }] } })
  return [
    list(path, [0, 1000], (i) => ({ name: `n${i}`, value: 'v' }), within),
    text(`${path}.0.name`, 1, 1000, within),
    text(`${path}.0.value`, 1, 1000, within),
  ]
}

const axiom = { host: 'h', api_token: 't', dataset: 'd' }
const datadog = { host: 'h', api_key: 'k' }
const newRelic = { host: 'h', ingestion_key: 'k' }
const splunk = { host: 'h', token: 't' }
const tcp = { host: 'h', port: 1 }

const otherLogging: readonly Bound[] = [
  ...Object.keys(axiom).map((member) => word('axiom', member, axiom)),
  ...Object.keys(datadog).map((member) => word('datadog', member, datadog)),
  ...pairs('datadog', 'tags', datadog),
  ...Object.keys(newRelic).map((member) => word('new_relic', member, newRelic)),
  ...Object.keys(splunk).map((member) => word('splunk', member, splunk)),
  word('tcp', 'host', tcp),
  integer('container.logging.tcp.port', 1, 65_535, inLogging({ tcp })),
]

const logging: readonly Bound[] = [
  ...['host', 'user', 'password', 'path'].map((member) => word('http', member, http)),
  ...pairs('http', 'headers', http),
  integer('container.logging.http.port', 1, 65_535, inLogging({ http })),
  oneOf('container.logging.http.compression', ['none', 'gzip'], inLogging({ http })),
  oneOf('container.logging.http.format', ['json', 'json_lines'], inLogging({ http })),
  ...rare(otherLogging),
]

const registries: Readonly<Record<string, readonly string[]>> = {
  basic: ['username', 'password'],
  docker_hub: ['username', 'personal_access_token'],
  aws_ecr: ['access_key_id', 'secret_access_key'],
  gcp_gar: ['service_key'],
  gcp_gcr: ['service_key'],
}

/** Keys of registries; of two kinds at once, and of none, there are none. */
const authentication: readonly Bound[] = [
  ...Object.entries(registries).flatMap(([kind, members]) => {
    const whole = Object.fromEntries(members.map((member) => [member, 'x']))
    const registry_authentication = only(Object.keys(registries), { [kind]: whole })
    const within = { container: { registry_authentication } }
    return members.map((member) => secret(`container.registry_authentication.${kind}.${member}`, 10_000, within))
  }),
  {
    member: 'container.registry_authentication',
    accepted: [],
    refused: [{ gcp_gar: { service_key: 'k' }, gcp_gcr: { service_key: 'k' } }],
  },
]

/** A probe by each of its mechanisms (section 8.8). */
function probe(member: string): readonly Bound[] {
  const by = (mechanism: object) => ({ [member]: only(['exec', 'grpc', 'http', 'tcp'], mechanism) })
  const tcp = by({ tcp: { port: 80 } })
  const exec = by({ exec: { command: ['true'] } })
  const grpc = by({ grpc: { port: 80 } })
  const http = by({ http: { path: '/', port: 80, headers: [{ name: 'n', value: 'v' }] } })
  return [
    integer(`${member}.failure_threshold`, 1, 20, tcp),
    integer(`${member}.initial_delay_seconds`, 0, 1200, tcp),
    integer(`${member}.period_seconds`, 1, 120, tcp),
    integer(`${member}.success_threshold`, 1, 10, tcp),
    integer(`${member}.timeout_seconds`, 1, 60, tcp),
    integer(`${member}.tcp.port`, 0, 65_535, tcp),
    list(`${member}.exec.command`, [1, 100], () => 'x', exec),
    text(`${member}.exec.command.0`, 1, 2048, exec),
    integer(`${member}.grpc.port`, 0, 65_536, grpc),
    text(`${member}.grpc.service`, 0, 1024, grpc),
    integer(`${member}.http.port`, 0, 65_536, http),
    text(`${member}.http.path`, 1, 2048, http, '/'),
    oneOf(`${member}.http.scheme`, ['http', 'https'], http),
    list(`${member}.http.headers`, [0, 50], (i) => ({ name: `n${i}`, value: 'v' }), http),
    text(`${member}.http.headers.0.name`, 1, 256, http),
    text(`${member}.http.headers.0.value`, 1, 1024, http),
  ]
}

const actions = { 'scaling-actions': [{ replicas: 1, schedule: '0 9 * * MON-FRI' }] }

/** What can be said at creation and changed afterwards. */
const lasting: readonly Bound[] = [
  { ...text('display_name', 2, 63), refused: ['x', 'x'.repeat(64), 'a_b', 'ä1', 1] },
  text('readme', 2, 65_000),
  integer('replicas', 0, 500),
  list('country_codes', [0, 500], () => 'de'),
  { member: 'country_codes.0', accepted: ['ad', 'zw'], refused: ['DE', 'xx', 'd', 'deu', 1] },
  flag('scheduled-scaling-enabled'),
  list('scaling-actions', [0, 100], () => ({ replicas: 1, schedule: '0 9 * * *' })),
  integer('scaling-actions.0.replicas', 0, 500, actions),
  {
    ...{ member: 'scaling-actions.0.schedule', within: actions },
    accepted: ['* * * * *', '0,30\t9-17 */2 jan-dec MON', '59 23 31 12 7'],
    refused: ['* * * *', '* * * * * *', '60 * * * *', '* 24 * * *', '* * 0 * *', '* * * 13 *', '@daily', '', 1],
  },
  text('container.image', 1, 2048),
  list('container.command', [0, 100], () => 'x'),
  text('container.command.0', 1, 2048),
  flag('container.image_caching'),
  text('container.environment_variables.NAME', 1, 1000),
  { member: 'container.environment_variables', accepted: [{}, { A: 'b' }], refused: [[], 'A=b', { A: 1 }] },
  integer('container.resources.cpu', 1, 1024),
  integer('container.resources.memory', 1024, MEGABYTES),
  integer('container.resources.shm_size', 64, MEGABYTES),
  integer('container.resources.storage_amount', MEGABYTES, 1_125_899_906_842_624),
  list('container.resources.gpu_classes', [0, 100], () => GPU),
  oneOf('container.priority', ['high', 'medium', 'low', 'batch']),
  ...logging,
  ...rare(authentication),
  ...probe('readiness_probe'),
  ...rare(['liveness_probe', 'startup_probe'].flatMap(probe)),
]

const autoscaling = (within: object): readonly Bound[] => [
  integer('queue_autoscaler.desired_queue_length', 1, 100, within),
  integer('queue_autoscaler.min_replicas', 0, 100, within),
  integer('queue_autoscaler.max_replicas', 1, 500, within),
  integer('queue_autoscaler.max_upscale_per_minute', 1, 100, within),
  integer('queue_autoscaler.max_downscale_per_minute', 1, 100, within),
  integer('queue_autoscaler.polling_period', 15, 1800, within),
]
const autoscaler = { queue_autoscaler: { desired_queue_length: 1, min_replicas: 1, max_replicas: 100 } }
const queue_connection = { path: '/', port: 80, queue_name: STANDING_QUEUE }
const inNetworking = { networking }

/** Of a create body (sections 8.5 to 8.9). */
export const createBounds: readonly Bound[] = [
  name('name'),
  flag('autostart_policy', { replicas: 0 }),
  oneOf('restart_policy', ['always', 'on_failure', 'never']),
  ...lasting,
  integer('networking.port', 1, 65_535, inNetworking),
  flag('networking.auth', inNetworking),
  oneOf('networking.protocol', ['http'], inNetworking),
  oneOf('networking.load_balancer', ['round_robin', 'least_number_of_connections'], inNetworking),
  integer('networking.client_request_timeout', 1, 100_000, inNetworking),
  integer('networking.server_response_timeout', 1, 100_000, inNetworking),
  flag('networking.single_connection_limit', inNetworking),
  { member: 'container.registry_authentication', accepted: [], refused: [{}, 'key'] },
  ...autoscaling({ ...autoscaler, queue_connection }),
  text('queue_connection.path', 1, 1024, { queue_connection }, '/'),
  integer('queue_connection.port', 1, 65_535, { queue_connection }),
]

/** Of a patch of a group that has networking and a queue (section 8.10). */
export const patchBounds: readonly Bound[] = [
  ...rare(lasting),
  integer('networking.port', 1, 65_535),
  integer('replicas', 0, 500),
  text('readme', 2, 65_000),
  ...rare(autoscaling(autoscaler)),
]
