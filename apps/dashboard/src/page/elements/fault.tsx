/** Shows an error message, which screen readers announce immediately. Renders nothing without a message. */
export function Fault({ sentence }: { readonly sentence: string | undefined }) {
  if (sentence === undefined) return null;
  return (
    <p class="fault" role="alert">
      {sentence}
    </p>
  );
}
