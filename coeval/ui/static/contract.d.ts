/** Types of the data from and to the server, and of the kept data. For the type check only. */

type Action = 'approve' | 'delete' | 'revise' | 'add';

interface Quote {
  text: string;
  start: number | null;
  end: number | null;
  /** The text that `start` and `end` refer to; null if the quote was found nowhere. */
  place: 'output' | 'nearly in the output' | 'input' | null;
  /** The passage in the text, if the quote differs a little from it. */
  passage: string;
}

/** A drafted line with the person's decision so far; the score row of a step without a draft has no id. */
interface SheetRow {
  id: number | null;
  kind: string;
  text: string;
  label?: string;
  note?: string;
  quotes?: Quote[];
  action: Action | null;
  reason: string;
  new_text: string;
  /** In a sheet of several criteria: its criterion, and for a score line its scale and scores. */
  group?: number;
  scale?: number[] | null;
  anchors?: [number, string][];
  draft_score?: number | null;
  score?: number | null;
  /** What the line of an extension holds beside its words; of a score, the further ones that can be marked. */
  own?: Record<string, unknown>;
}

interface AddedLine {
  group?: number;
  own?: Record<string, unknown>;
  kind: string;
  new_text: string;
  reason: string;
}

/** A button that adds a line of one kind, and its key. */
interface Offer {
  label: string;
  key: string;
  kind: string;
  once?: boolean;
}

interface Limits {
  added: number;
  remark: number;
}

/** One criterion of a sheet of several. */
interface SheetGroup {
  id: number;
  number: number;
  name: string;
  text: string;
  note: string;
  add: Offer | Offer[];
}

/** The data of a table; `revision` counts its saves, or for decisions the saves of votes. */
interface LeftOut {
  text: string;
  by: string;
}

interface Sheet {
  revision: number;
  saved_at: string;
  draft?: number | null;
  round?: number;
  limits: Limits;
  reason_required: boolean;
  add: Offer | Offer[];
  confirm?: { label: string; keyed: boolean };
  counted?: string;
  missing?: string;
  /** The flags of a quote that is in the input, and of one that differs from the output. */
  from_input?: string;
  nearly?: string;
  scale: number[] | null;
  anchors?: [number, string][];
  draft_score: number | null;
  /** For decisions: added criteria outside the set, the number of voters, and who has not voted. */
  left_out?: LeftOut[];
  voters?: number;
  waiting?: string[];
  score: number | null;
  rows: SheetRow[];
  added: AddedLine[];
  groups?: SheetGroup[];
}

interface LineState {
  own?: Record<string, unknown>;
  group?: number;
  score?: number | null;
  id: number | null;
  kind: string;
  action: Action | null;
  reason: string;
  new_text: string;
}

/** Everything typed and chosen in a table. */
interface TableState {
  score: number | null;
  rows: LineState[];
  added: AddedLine[];
}

/** Unsaved work as the browser keeps it. */
interface KeptWork {
  revision: number;
  draft: number | null;
  state: TableState;
  edited: boolean;
  at: string;
  opened_at?: string;
  active_ms?: number;
  bulk?: boolean;
  text?: string;
  /** Of a ballot, the texts of the criteria by their ids: a later round has other ids. */
  texts?: Record<string, string>;
}

/** The kept part of a state that is sent, by place. */
interface KeptPart {
  place: string;
  state: TableState;
}

/** A save on its way: its route, its data, and the state of the table. */
interface Entry {
  uid: string;
  box: string;
  task: string;
  place: string;
  path: string;
  body: Record<string, unknown>;
  state: TableState;
  parts?: KeptPart[];
  flying?: boolean;
}

interface SaveAnswer<Next> {
  saved: { revision: number; submitted_at: string };
  next: Next | null;
  message: string;
}

interface HistoryVersion {
  revision: number;
  saved_at: string;
  score?: number | null;
  first?: boolean;
  lines: { label: string; action: Action; text: string; reason: string }[];
}

/** Some versions, oldest first; `more` is true if there are older ones. */
interface HistoryPage {
  versions: HistoryVersion[];
  more: boolean;
}

/** One of source and problem is empty. */
interface StepImage {
  name: string;
  source: string;
  problem: string;
}

interface StepInstance {
  id: number;
  /** Its place in the data and its id; empty if the systems are hidden. */
  name: string;
  input: string;
  output: string;
  reference: string;
  images: StepImage[];
  context: [string, string][];
  system: string | null;
  flagged: boolean;
  skipped: boolean;
  comment: string;
  /** The answer to the person's flag or comment. */
  answer: string;
}

interface StepTask {
  slug: string;
  name: string;
  input_field: string;
  output_field: string;
  description: string;
  guidelines: string;
  display: string;
  idle_seconds: number;
  input_first: boolean;
}

interface StepCriterion {
  id: number;
  number: number;
  name: string;
  text: string;
  definition: string;
  examples: string;
  done: boolean;
  reopened: boolean;
}

interface Evaluation {
  arm: string;
  asks_first: boolean;
  first_score: number | null;
  draft: number | null;
  status: string;
  note: string;
  scale: number[];
  /** The meanings of scores that have one. */
  anchors: [number, string][];
  draft_score: number | null;
  revision: number;
  saved_at: string;
  score: number | null;
  rows: SheetRow[];
  added: AddedLine[];
  /** Places of passages that are marked without a line of the draft. */
  marks: Pick<Quote, 'start' | 'end' | 'place'>[];
}

/** One screen of scrutiny; without an instance, the filter has no work left. */
interface Step {
  task: StepTask;
  limits: Limits;
  total: number;
  done: number;
  flagged: number;
  seconds_each: number | null;
  filter: string;
  finished: boolean;
  /** Whether this person may let the model draft what has no draft. */
  offers_draft?: boolean;
  /** The reason that this person has no instances, and for owners where to change it; otherwise null. */
  empty: { text: string; link: string; label: string } | null;
  /** The link to the results, for an owner; empty for all others. */
  agreement: string;
  position: number | null;
  instance: StepInstance | null;
  criteria: StepCriterion[];
  criterion: number | null;
  evaluation: Evaluation | null;
  /** The evaluations of all criteria, if all are shown at once. */
  evaluations?: (Evaluation & { criterion: number })[];
}

interface OpenStep extends Step {
  instance: StepInstance;
  criterion: number;
  evaluation: Evaluation;
}

interface SheetStep extends OpenStep {
  evaluations: (Evaluation & { criterion: number })[];
}

/** The instance and criterion on a person's screen. */
interface Place {
  instance?: number;
  criterion?: number;
  filter?: string;
}

/** The value from Gradio for a part of the page, see coeval/ui/components/view.py. */
interface ScreenValue {
  task: string;
  person: string;
  /** The language of its texts; English by default. */
  language?: string;
  round?: number;
  revision?: number;
}

interface Window {
  /** The uid of the person for whom the page was opened. */
  coevalPerson?: string;
  /** Whether the page shows the tab of its address. */
  coevalStarted?: boolean;
  /** The task when the picker got the focus. */
  coevalBefore?: string | null;
  /** What the page was opened with, see coeval/ui/server/first_page.py. */
  coevalOpened?: { shipped?: any };
  coeval: {
    root: string;
    screen(
      kind: string,
      element: HTMLElement,
      props: { value: ScreenValue | null },
      watch?: (name: string, run: () => void) => void,
      trigger?: (event: string) => void,
    ): void;
    /** The building blocks for scripts of extensions, and the function that adds their screens; see main.js. */
    parts: typeof import('./core/api.js') &
      typeof import('./core/dom.js') &
      typeof import('./core/kept.js') &
      typeof import('./core/keys.js') &
      typeof import('./core/words.js') &
      typeof import('./scrutiny/timing.js') &
      typeof import('./rows/row.js') &
      typeof import('./rows/review_row.js') &
      typeof import('./table/sheet_editor.js') &
      typeof import('./table/sheet_table.js') &
      typeof import('./table/sheet_work.js') &
      typeof import('./table/table_keys.js') &
      typeof import('./texts/display.js') &
      typeof import('./texts/reading.js') &
      typeof import('./texts/text.js');
    addScreen(kind: string, make: (element: HTMLElement, value: any, onsaved: () => void) => any): void;
    follower(element: HTMLElement, trigger: (event: string) => void): void;
    view(element: HTMLElement, props: object, watch: (name: string, run: () => void) => void): void;
    roles(element: HTMLElement, props: object, watch: (name: string, run: () => void) => void): void;
  };
}
