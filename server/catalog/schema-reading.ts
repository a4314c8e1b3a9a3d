import { shapeOf, type ObjectShape } from "./schema-shape.ts";

/** Members and characters that are looked at for the price of one node. */
const CHEAP = 16;

/**
 * One schema while it is being shown. It is read several times, at several levels of detail and
 * through references: what that may take is bounded in all, and no object is put together twice.
 */
export class SchemaReading {
  readonly root: unknown;
  #steps: number;
  readonly #shapes = new Map<unknown, ObjectShape>();

  /** @param steps how many nodes may be looked at, or as much work of other kinds */
  constructor(root: unknown, steps: number) {
    this.root = root;
    this.#steps = steps;
  }

  /** Whether nothing may be looked at any more. */
  get spent(): boolean {
    return this.#steps <= 0;
  }

  /** Allows as many steps again. */
  renew(steps: number): void {
    this.#steps = steps;
  }

  /** Counts one node. */
  node(): void {
    this.#steps--;
  }

  /** Counts members or characters. */
  small(count: number): void {
    this.#steps -= count / CHEAP;
  }

  /** What an object schema says about its properties. */
  shape(schema: unknown): ObjectShape {
    const known = this.#shapes.get(schema);
    if (known !== undefined) return known;
    const shape = shapeOf(schema, this.root);
    this.#shapes.set(schema, shape);
    this.small(shape.cost);
    return shape;
  }
}
