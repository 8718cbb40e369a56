import { atEndOfTurn } from './at-end-of-turn.js';

interface Waiting<Question, Answer> {
  readonly question: Question;
  resolve(answer: Answer): void;
  reject(reason: unknown): void;
}

/**
 * Answers the questions of one turn of the event loop together, where many cost hardly more than one. `answerAll` gives one
 * answer for each question, in order; what it rejects with, all of them are rejected with.
 */
export class Gathered<Question, Answer> {
  readonly #answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>;
  #waiting: Waiting<Question, Answer>[] = [];

  constructor(answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>) {
    this.#answerAll = answerAll;
  }

  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject });
      if (this.#waiting.length === 1) atEndOfTurn(() => void this.#answerWaiting());
    });
  }

  async #answerWaiting(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      const answers = await this.#answerAll(waiting.map(({ question }) => question));
      if (answers.length !== waiting.length) throw new Error('there is not one answer for each question');
      for (const [index, { resolve }] of waiting.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}
