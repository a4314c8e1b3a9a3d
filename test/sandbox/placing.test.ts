import { describe, expect, it } from "vitest";
import { place, type Candidate } from "../../server/sandbox/placing.ts";

const idle: Candidate = {
  usable: true,
  isWarm: true,
  overdue: false,
  busyMs: 0,
  backlog: 0,
  load: 0,
};
const computing = { ...idle, busyMs: 80, backlog: 1, load: 1 };
const stuck = { ...idle, busyMs: 400, overdue: true, backlog: 3, load: 3 };
const starting = { ...idle, usable: false, isWarm: false };
const cold = { ...idle, isWarm: false };
const many = { ...idle, busyMs: 2, backlog: 4, load: 40 };

describe("L2: a run", () => {
  it.each([
    ["an idle process before a busy one", [many, idle], idle],
    ["a busy one that answers soon", [many], many],
    ["an idle one beside one that computes", [computing, idle], idle],
    ["the one with less to do", [many, { ...many, backlog: 3 }], { ...many, backlog: 3 }],
    ["the one with fewer runs", [{ ...idle, load: 2 }, idle], idle],
    ["a warm one before a cold one", [cold, many], many],
    ["a cold one rather than one that is about to end", [stuck, cold], cold],
    ["a warm one beside one that is about to end", [stuck, many], many],
  ])("goes to %s", (_, processes, expected) => {
    expect(place(processes)).toEqual(expected);
    expect(place(processes.toReversed())).toEqual(expected);
  });

  it.each([
    ["no process has started", [starting]],
    ["each one computes", [computing, { ...computing, busyMs: 30 }]],
    ["the only one is about to end", [stuck, starting]],
    ["the warm one computes, which will answer before a cold one is warm", [computing, cold]],
  ])("waits for an answer while %s", (_, processes) => {
    expect(place(processes)).toBeUndefined();
  });
});
