import { assert } from './assert.ts'

/** One waiting deadline. Made by TimerHeap.add, and the handle to remove or move it. */
export interface TimerEntry<T> {
  readonly deadlineMs: number
  readonly value: T
}

interface Node<T> extends TimerEntry<T> {
  deadlineMs: number
  /** Order of adding: equal deadlines leave in it, so that a run repeats exactly. */
  order: number
  /** Where the node sits in the heap; -1 once it has left. */
  index: number
}

/** Deadlines, earliest first. Adding, removing and moving cost O(log n), looking at the first nothing. */
export class TimerHeap<T> {
  private readonly heap: Node<T>[] = []
  private added = 0

  get size(): number {
    return this.heap.length
  }

  add(deadlineMs: number, value: T): TimerEntry<T> {
    assert(!Number.isNaN(deadlineMs), 'a deadline is a number')
    const node: Node<T> = { deadlineMs, value, order: this.added++, index: this.heap.length }
    this.heap.push(node)
    this.moveUp(node)
    return node
  }

  /** The entry that is due first. */
  peek(): TimerEntry<T> | undefined {
    return this.heap[0]
  }

  /** Takes out the first entry if its deadline is at or before `nowMs`. */
  popDue(nowMs: number): TimerEntry<T> | undefined {
    const first = this.heap[0]
    if (first === undefined || first.deadlineMs > nowMs) return undefined
    this.take(first)
    return first
  }

  /** False if it has left already. */
  remove(entry: TimerEntry<T>): boolean {
    const node = entry as Node<T>
    if (this.heap[node.index] !== node) return false
    this.take(node)
    return true
  }

  /** Gives a waiting entry another deadline; among equal ones it counts as added now. False if it has left already. */
  reschedule(entry: TimerEntry<T>, deadlineMs: number): boolean {
    assert(!Number.isNaN(deadlineMs), 'a deadline is a number')
    const node = entry as Node<T>
    if (this.heap[node.index] !== node) return false
    node.deadlineMs = deadlineMs
    node.order = this.added++
    this.moveUp(node)
    this.moveDown(node)
    return true
  }

  clear(): void {
    for (const node of this.heap) node.index = -1
    this.heap.length = 0
  }

  private take(node: Node<T>): void {
    const last = this.heap.pop()!
    if (last !== node) {
      this.place(last, node.index)
      this.moveUp(last)
      this.moveDown(last)
    }
    node.index = -1
  }

  private moveUp(node: Node<T>): void {
    while (node.index > 0) {
      const parent = this.heap[(node.index - 1) >> 1]!
      if (!before(node, parent)) return
      const index = parent.index
      this.place(parent, node.index)
      this.place(node, index)
    }
  }

  private moveDown(node: Node<T>): void {
    for (;;) {
      const left = this.heap[node.index * 2 + 1]
      const right = this.heap[node.index * 2 + 2]
      const child = right !== undefined && before(right, left!) ? right : left
      if (child === undefined || !before(child, node)) return
      const index = child.index
      this.place(child, node.index)
      this.place(node, index)
    }
  }

  private place(node: Node<T>, index: number): void {
    this.heap[index] = node
    node.index = index
  }
}

function before<T>(left: Node<T>, right: Node<T>): boolean {
  return left.deadlineMs < right.deadlineMs || (left.deadlineMs === right.deadlineMs && left.order < right.order)
}
