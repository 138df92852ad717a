import { type ClusterImage, type ClusterMetadata, type MetadataChange, type TopicImage } from '../../kernel/ports/cluster-metadata.ts'
import { emptyImage, type MetadataImage } from './core/metadata-image.ts'

type Listener = (image: ClusterImage, change: MetadataChange) => void

const nothing: readonly TopicImage[] = []
const noChange: MetadataChange = { created: nothing, deleted: nothing, changed: nothing }

/** Holds the committed image and tells those who follow it. A listener may subscribe, and end its subscription, while it is called. */
export class MetadataPublisher implements ClusterMetadata {
  private current: MetadataImage = emptyImage
  private readonly listeners = new Set<Listener>()

  image(): MetadataImage {
    return this.current
  }

  subscribe(listener: Listener): () => void {
    // An own function for each subscription: the same listener may be subscribed twice.
    const own: Listener = (image, change) => listener(image, change)
    this.listeners.add(own)
    listener(this.current, { ...noChange, created: [...this.current.topics.values()] })
    return () => this.listeners.delete(own)
  }

  /** What the listeners throw comes out here, after all were told. */
  publish(image: MetadataImage, change: MetadataChange = noChange): void {
    this.current = image
    const failures: unknown[] = []
    for (const listener of [...this.listeners]) {
      try {
        if (this.listeners.has(listener)) listener(image, change)
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures, 'several listeners of the metadata failed')
  }
}
