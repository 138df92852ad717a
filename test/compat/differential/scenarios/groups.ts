import { type Scenario } from '../scenario.ts'
import { classicGroupScenarios } from './classic-groups.ts'
import { consumerGroupScenarios } from './consumer-groups.ts'
import { offsetScenarios } from './offsets-of-groups.ts'

export const groupScenarios: readonly Scenario[] = [...classicGroupScenarios, ...consumerGroupScenarios, ...offsetScenarios]
