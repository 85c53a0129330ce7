/** Numbers that look drawn and are the same each time: whole, from 0 to below `n`. */
export function drawer(seed) {
  let state = seed;
  return (n) => {
    state = (state * 48271) % 2147483647;
    return state % n;
  };
}
