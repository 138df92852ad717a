/** The version of the contract between kernel and plugins. It grows when a port, or the way plugins are declared, changes incompatibly. */
export const contractVersion = 1
