import { parseFragment, type DefaultTreeAdapterTypes as Tree } from 'parse5';

const mathElements =
  'math semantics annotation mrow mi mo mn ms mtext mspace msup msub msubsup mfrac msqrt mroot mover munder munderover mtable mtr mtd mstyle mpadded mphantom menclose mglyph';

/** Elements that rendered HTML may contain, with the attributes that each may have. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    'p br hr h1 h2 h3 h4 h5 h6 strong em del code pre blockquote ul li table thead tbody tr'
      .split(' ')
      .map((name) => [name, []]),
  ),
  a: ['href', 'title', 'class', 'data-stream-id'],
  div: ['class', 'data-code-language', 'aria-hidden'],
  img: ['class', 'alt', 'title', 'src'],
  ol: ['start'],
  span: [
    'class',
    'data-user-id',
    'data-user-group-id',
    'title',
    'role',
    'aria-label',
    'aria-hidden',
    'style',
  ],
  td: ['style'],
  th: ['style'],
  time: ['datetime'],
  ...Object.fromEntries(
    mathElements
      .split(' ')
      .map((name) => [
        name,
        'xmlns display encoding mathvariant mathcolor mathbackground mathsize stretchy separator fence form accent accentunder lspace rspace movablelimits minsize maxsize symmetric largeop linethickness width height depth voffset displaystyle scriptlevel columnalign columnspacing columnlines rowspacing rowlines rowalign notation class style side linebreak'.split(
          ' ',
        ),
      ]),
  ),
  svg: [
    'xmlns',
    'width',
    'height',
    'viewbox',
    'viewBox',
    'preserveaspectratio',
    'preserveAspectRatio',
    'style',
  ],
  path: ['d'],
  line: ['x1', 'y1', 'x2', 'y2', 'stroke-width'],
};

const safeHref = /^(?:https?:\/\/|mailto:|\/user_uploads\/|\/?#narrow\/)/;
/** Matches styles with lengths, colors and alignment only. None of these styles can load a resource. */
const safeStyle = /^(?:[a-z-]+: ?(?:calc\(100% - [0-9.]+em\)|[#a-z0-9. -]+)(?:;|$))*$/i;

/** Parses HTML as a browser does, and returns every element, attribute and URL that is not allowed. */
export function forbiddenIn(html: string): string[] {
  return walk(parseFragment(html)).flatMap((node) =>
    'tagName' in node ? forbiddenOf(node) : otherNode(node),
  );
}

/** Returns the names of the elements that a browser would create from this HTML, in order. */
export function parsedElements(html: string): string[] {
  return walk(parseFragment(html)).flatMap((node) => ('tagName' in node ? [node.tagName] : []));
}

/**
 * Returns the names of the start tags in this HTML, in order. The result equals that of `parsedElements` if and only if
 * the HTML is well nested.
 */
export function openedElements(html: string): string[] {
  return [...html.matchAll(/<([a-z][a-z0-9]*)/g)].map(([, name = '']) => name);
}

function walk(node: Tree.Node): Tree.Node[] {
  return 'childNodes' in node ? node.childNodes.flatMap((child) => [child, ...walk(child)]) : [];
}

function otherNode({ nodeName }: Tree.Node): string[] {
  return nodeName === '#text' ? [] : [nodeName];
}

function forbiddenOf({ tagName, attrs }: Tree.Element): string[] {
  const names = allowed[tagName];
  if (names === undefined) return [`<${tagName}>`];
  return attrs
    .filter(({ name, value }) => {
      if (!names.includes(name)) return true;
      if (name === 'href') return !safeHref.test(value);
      if (name === 'src') return value !== '/user_avatars/2/emoji/logo.png';
      return name === 'style' && !safeStyle.test(value);
    })
    .map(({ name, value }) => `<${tagName} ${name}="${value}">`);
}
