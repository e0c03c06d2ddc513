import type { Request, Response } from 'express'
import type { Db } from '../base/database.ts'
import { notFound } from '../base/errors.ts'
import { nameIn, uuidIn } from '../base/path.ts'
import { type GroupRecord, type InstanceRecord, selectGroups } from '../instances/group-record.ts'
import { projectOf } from './organization.ts'

/** The groups of a project that its members see. */
export const visibleGroups = (db: Db, projectId: string) =>
  selectGroups(db).where('container_groups.project_id', '=', projectId).where('container_groups.deleted', '=', false)

/** The group of the path. Throws 404. */
export const groupOf = (db: Db, { params }: Request, response: Response): Promise<GroupRecord> =>
  visibleGroups(db, projectOf(response).id)
    .where('container_groups.name', '=', nameIn(params.group, 'container group'))
    .executeTakeFirstOrThrow(() => notFound('container group'))

/** The instance of the path, in its group. Throws 404. */
export async function instanceOf(db: Db, request: Request, response: Response): Promise<InstanceRecord> {
  const group = await groupOf(db, request, response)
  return db
    .selectFrom('instances')
    .selectAll()
    .where('group_id', '=', group.id)
    .where('id', '=', uuidIn(request.params.instance, 'container instance'))
    .executeTakeFirstOrThrow(() => notFound('container instance'))
}
