/**
 * Returns the result of `work`, or `late` after a timeout. After the timeout, ignores the result or rejection of
 * `work`.
 * @param milliseconds the timeout, 0 or more
 * @throws the rejection of `work`, if it occurs before the timeout
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
