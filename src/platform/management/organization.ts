import type { RequestHandler, Response } from 'express'
import type { Db } from '../base/database.ts'
import { notFound, PlatformError } from '../base/errors.ts'
import { isMember } from '../base/keys.ts'
import { nameIn } from '../base/path.ts'
import { userOf } from './authenticate.ts'

export interface Organization {
  readonly id: string
  readonly name: string
}

export interface Project {
  readonly id: string
  readonly name: string
}

/** Finds the organization of the path. Throws 404 for an unknown one, 403 for one the caller is no member of. */
export function findOrganization(db: Db): RequestHandler<{ organization: string }> {
  return async ({ params }, response, next) => {
    const name = nameIn(params.organization, 'organization')
    const organization = await db
      .selectFrom('organizations')
      .select(['id', 'name'])
      .where('name', '=', name)
      .executeTakeFirst()
    if (!organization) throw notFound('organization')
    if (!(await isMember(db, userOf(response).id, organization.id)))
      throw new PlatformError(403, 'The caller is not a member of the organization.')
    response.locals.organization = organization
    next()
  }
}

/** Finds the project of the path in its organization. Throws 404. */
export function findProject(db: Db): RequestHandler<{ project: string }> {
  return async ({ params }, response, next) => {
    const project = await db
      .selectFrom('projects')
      .select(['id', 'name'])
      .where('organization_id', '=', organizationOf(response).id)
      .where('name', '=', nameIn(params.project, 'project'))
      .executeTakeFirst()
    if (!project) throw notFound('project')
    response.locals.project = project
    next()
  }
}

/** The organization of the path; the caller is a member. */
export const organizationOf = ({ locals }: Response): Organization => locals.organization as Organization

/** The project of the path, in its organization. */
export const projectOf = ({ locals }: Response): Project => locals.project as Project
