/** What the thread of the database is started with. */
export interface DatabaseSetup {
  readonly folder: string
  /** Only make the folder's files, then end: that takes much memory, which goes back with the thread. */
  readonly create: boolean
}

/** To the thread. Without a `text` it closes the database and ends. */
export interface Statement {
  readonly id: number
  readonly text?: string
  /** Undefined: `text` may be several statements. */
  readonly values?: readonly unknown[]
}

export interface QueryResult {
  readonly rows: readonly unknown[]
  readonly rowCount: number
}

/** From the thread; its first one has the id 0 and says that it is ready. */
export type Reply = { readonly id: number } & (
  | { readonly result: QueryResult }
  | {
      readonly fault: {
        readonly message: string
        readonly code: string | undefined
        readonly detail: string | undefined
      }
    }
)
