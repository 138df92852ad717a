import { resolveTopicSettings } from '../kernel/config/resolve-topic-settings.ts'
import { type TopicSettings } from '../kernel/model/topic-settings.ts'

const defaults = resolveTopicSettings(new Map(), () => undefined)

/** The settings of a topic in a test: the defaults, but for what the test is about. */
export function topicSettings(changed: Partial<TopicSettings> = {}): TopicSettings {
  return { ...defaults, ...changed }
}
