/**
 * What `work` comes to, or `late` when that takes longer. What it comes to afterwards is dropped, also when it fails.
 * @param milliseconds how long to wait, 0 or more
 * @throws what `work` rejects with in time.
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
