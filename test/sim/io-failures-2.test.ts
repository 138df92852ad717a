import { failureTests } from './io/failure-tests.ts'

failureTests(1, 2)
