import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Answers } from "../../server/node/answers.ts";

/** An answer whose client takes what a test says. */
class Answer extends EventEmitter {
  writableLength = 0;
  closed = false;
  destroy(): void {
    this.end();
  }
  end(): void {
    this.closed = true;
    this.emit("close");
  }
}

const request = () => new Request("http://127.0.0.1/mcp");

let answers: Answers;

beforeEach(() => {
  vi.useFakeTimers();
  answers = new Answers();
});
afterEach(() => {
  answers.close();
  vi.useRealTimers();
});

test("whoever asked is told once an answer has ended, also when it had before", () => {
  const [one, answer] = [request(), new Answer()];
  answers.follow(one, answer);
  const [before, after] = [vi.fn<() => void>(), vi.fn<() => void>()];
  expect(answers.onEnd(one, before)).toBe(true);
  expect(before).not.toHaveBeenCalled();
  answer.end();
  expect(before).toHaveBeenCalledTimes(1);
  expect(answers.onEnd(one, after)).toBe(true);
  expect(after).toHaveBeenCalledTimes(1);
});

test("of an answer that it does not follow it says so", () => {
  expect(answers.onEnd(request(), () => undefined)).toBe(false);
});

test("an answer that its client does not take is ended after a minute", () => {
  const answer = new Answer();
  answers.follow(request(), answer);
  answer.writableLength = 5_000_000;
  vi.advanceTimersByTime(60_000);
  expect(answer.closed).toBe(false);
  vi.advanceTimersByTime(10_000);
  expect(answer.closed).toBe(true);
});

test("one that is taken slowly, or that has nothing to give yet, goes on", () => {
  const [slow, silent] = [new Answer(), new Answer()];
  answers.follow(request(), slow);
  answers.follow(request(), silent);
  for (let minutes = 10; minutes > 0; minutes--) {
    slow.writableLength = minutes * 1_000;
    vi.advanceTimersByTime(60_000);
  }
  expect([slow.closed, silent.closed]).toEqual([false, false]);
});
