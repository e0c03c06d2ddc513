import { embedded } from '../../support/backends.ts'
import { testCancelling } from './cancelling.ts'

testCancelling(embedded())
