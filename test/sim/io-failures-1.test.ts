import { failureTests } from './io/failure-tests.ts'

failureTests(0, 2)
