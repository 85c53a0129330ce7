// The sign-in of a Space, whose page is in a frame of the Hub. The frame may not navigate the page around it, so the
// sign-in opens a page of its own. Once the person is signed in, the server sends the frame on: a redirect that is not
// followed shows it. A browser that blocks cookies in frames never sends it on, so a note says where to go on.

const LOOK_MS = 2000;
const way = /** @type {HTMLAnchorElement} */ (document.getElementById('way'));
const elsewhere = /** @type {HTMLElement} */ (document.getElementById('elsewhere'));

async function look() {
  const answer = await fetch(way.dataset.page || '', { redirect: 'manual', cache: 'no-store' });
  if (answer.type === 'opaqueredirect') location.reload();
}

if (window.top === window) way.removeAttribute('target');
else
  way.addEventListener(
    'click',
    () => {
      elsewhere.hidden = false;
      setInterval(look, LOOK_MS);
    },
    { once: true },
  );
