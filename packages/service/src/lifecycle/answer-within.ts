/**
 * Returns the result of `work`, or `late` after a timeout. Ignores a later result or rejection.
 * @param milliseconds the timeout, 0 or more
 * @throws the rejection of `work` before the timeout.
 */
export async function answerWithin<Answer>(
  milliseconds: number,
  work: Promise<Answer>,
  late: Answer,
): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<Answer>((resolve) => {
    timer = setTimeout(() => resolve(late), milliseconds);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
