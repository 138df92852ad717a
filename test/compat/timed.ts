import { type CheckResult } from './report.ts'

/** Runs one check, and makes of what it throws a failure. */
export async function timed (
  check: Pick<CheckResult, 'check' | 'client' | 'producer' | 'codec' | 'dataset'>,
  act: () => Promise<Partial<CheckResult> | void>,
): Promise<CheckResult> {
  const began = performance.now()
  try {
    const more = await act()
    return { ...check, status: 'passed', ...more, ms: performance.now() - began }
  } catch (error) {
    return { ...check, status: 'failed', ms: performance.now() - began, reason: (error as Error).message }
  }
}
