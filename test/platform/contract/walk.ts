import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedFolder } from '../../support/folder.ts'
import { platformDatabase } from '../../support/platform-database.ts'
import { checkProblem } from './answers.ts'
import { sendText } from './ask.ts'
import { type Bench, openBench } from './bench.ts'
import { imdsFaults } from './imds-faults.ts'
import { managementFaults } from './management-faults.ts'
import { type Operation, titleOf } from './operation.ts'
import { gatewayFaults } from './operations/gateway.ts'
import { operations } from './operations.ts'
import { appRoutes, managementRoutes } from './routes.ts'
import { type Row, rowsOf } from './rows.ts'
import { storageFaults } from './storage-faults.ts'

const faultsOf = {
  management: managementFaults,
  imds: imdsFaults,
  storage: storageFaults,
  gateway: () => gatewayFaults,
} as const

/** Methods that the table has for the path of an operation. */
const methodsAt = ({ surface, path }: Operation): readonly string[] => [
  ...new Set(operations.filter((one) => one.surface === surface && one.path === path).map(({ method }) => method)),
]

/** The rows of an operation. */
const rowsFor = (operation: Operation): readonly Row[] =>
  rowsOf(operation, faultsOf[operation.surface](operation, methodsAt(operation)))

/** To be called while tests are declared: a platform, one for the file. */
function sharedBench(): () => Bench {
  const database = platformDatabase()
  const folder = sharedFolder()
  let bench: Bench | undefined
  beforeAll(async () => {
    bench = await openBench(database(), folder())
  }, 120_000)
  afterAll(() => bench?.close())
  return () => {
    if (!bench) throw new Error('the platform is opened before the tests')
    return bench
  }
}

/** Tries the rows of the table that are chosen, and holds the table against what the platform answers. */
export function walk(isChosen: (row: Row) => boolean): void {
  const bench = sharedBench()
  for (const operation of operations)
    describe(titleOf(operation), () => {
      it.each(rowsFor(operation).filter(isChosen))('$name', async ({ run }) => {
        await run(bench())
      })
    })

  describe('what is no HTTP', () => {
    const malformed = [
      ['a head that cannot be read', 'GET / HTTP/1.1\r\nhost\r\n\r\n'],
      ['a head that is too long', `GET /${'x'.repeat(100_000)} HTTP/1.1\r\n\r\n`],
    ] as const
    it.each(
      (['management', 'storage', 'imds', 'gateway'] as const).flatMap((surface) =>
        malformed.map(([what, text]) => ({ surface, what, text })),
      ),
    )('is refused with a problem by $surface: $what', async ({ surface, text }) => {
      const { [surface]: servers } = bench().origins
      const answer = await sendText('usual' in servers ? servers.usual : servers.gone, text)
      checkProblem(
        answer,
        { surface, method: 'GET', path: '/' },
        { status: 400, ...(surface === 'imds' && { slug: 'invalid-request' }) },
      )
    })
  })

  describe('the table', () => {
    const of = (surface: Operation['surface']) => [
      ...new Set(operations.filter((one) => one.surface === surface).map(({ method, path }) => `${method} ${path}`)),
    ]
    it('has every operation of the management API and no other', () => {
      expect(of('management').sort()).toEqual([...managementRoutes(bench().apps.management)].sort())
    })
    it('has every operation of the storage API and no other', () => {
      const listed = of('storage').map((line) => line.replace(/:\w+/g, 'x'))
      const known = appRoutes(bench().apps.storage).map((line) => {
        const [, method, source = ''] = /^(\w+) \/(.*)\/$/.exec(line) ?? []
        return { method, matches: new RegExp(source) }
      })
      const has = (line: string, { method, matches }: (typeof known)[number]) => {
        const [listedMethod, path = ''] = line.split(' ')
        return listedMethod === method && matches.test(path)
      }
      expect(listed.filter((line) => !known.some((route) => has(line, route)))).toEqual([])
      expect(known.filter((route) => !listed.some((line) => has(line, route)))).toEqual([])
    })
    it('has every operation of the metadata service and no other', () => {
      expect(of('imds').sort()).toEqual([...appRoutes(bench().apps.imds)].sort())
    })
  })
}
