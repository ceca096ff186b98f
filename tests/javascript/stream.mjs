// Answers questions for the tests: one JSON object on each line of stdin, one answer on each line of stdout.

import { createInterface } from "node:readline";

import { answer } from "./questions.mjs";

for await (const line of createInterface({ input: process.stdin })) process.stdout.write(`${await answer(line)}\n`);
