import { describe } from 'vitest'
import { describeDocker } from '../../support/docker-behaviour.ts'
import { realPlace, standInPlace } from '../../support/docker-bench.ts'
import { describeDockerGroups } from '../../support/docker-groups.ts'
import { platformDatabase } from '../../support/platform-database.ts'

const database = platformDatabase()

// Each container of the stand-in has an address of 127.0.0.0/8, which only Linux gives for nothing.
describe.runIf(process.platform === 'linux')('with the stand-in for a Docker Engine', () => {
  describeDocker(standInPlace)
  describeDockerGroups(database, standInPlace)
})

// There is one only where DOCKER_HOST and an image with Node in it, DOCKER_TEST_IMAGE, are named.
const place = realPlace()
describe.runIf(place)('with a Docker Engine', () => {
  describeDocker(() => place!)
  describeDockerGroups(database, () => place!)
})
