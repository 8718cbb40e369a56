/** The sentence of a failure, which screen readers say at once; nothing when there is none. */
export function Fault({ sentence }: { readonly sentence: string | undefined }) {
  if (sentence === undefined) return null;
  return (
    <p class="fault" role="alert">
      {sentence}
    </p>
  );
}
