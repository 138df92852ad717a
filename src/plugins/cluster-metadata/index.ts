export { plugin } from './plugin.ts'
export { recoverImage, type RecoveredImage, type RecoveredTopic } from './core/recovered-image.ts'
