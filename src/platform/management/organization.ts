import type { RequestHandler, Response } from 'express'
import { notFound, PlatformError } from '../base/errors.ts'
import type { Members, Organization, Project } from '../base/members.ts'
import { nameIn } from '../base/path.ts'
import { userOf } from './authenticate.ts'

/** Finds the organization of the path. Throws 404 for an unknown one, 403 for one the caller is no member of. */
export function findOrganization(members: Members): RequestHandler<{ organization: string }> {
  return async ({ params }, response, next) => {
    const organization = await members.organization(nameIn(params.organization, 'organization'))
    if (!organization) throw notFound('organization')
    if (!(await members.isMember(userOf(response).id, organization.id)))
      throw new PlatformError(403, 'The caller is not a member of the organization.')
    response.locals.organization = organization
    next()
  }
}

/** Finds the project of the path in its organization. Throws 404. */
export function findProject(members: Members): RequestHandler<{ project: string }> {
  return async ({ params }, response, next) => {
    const project = await members.project(organizationOf(response).id, nameIn(params.project, 'project'))
    if (!project) throw notFound('project')
    response.locals.project = project
    next()
  }
}

/** The organization of the path; the caller is a member. */
export const organizationOf = ({ locals }: Response): Organization => locals.organization as Organization

/** The project of the path, in its organization. */
export const projectOf = ({ locals }: Response): Project => locals.project as Project
