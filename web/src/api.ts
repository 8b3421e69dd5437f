// What the server answers, and the requests to it. Names are those of the JSON lines.

import { spoken } from "./text";

export type Range = [start: number, end: number];

export type Pin =
  | { words: Range; field: string | null }
  | { words: Range; not: string }
  | { words: Range; text: string }
  | { field: string; value: string | number | null };

export interface FieldKind {
  name: string;
  label: string;
  type: string;
  many: boolean;
  row: string | null;
  key: string | null;
  colour: number;
  needed: boolean;
}

/** Rules that documents are under: their fields by use, and their kinds of rows. */
export interface RuleSet {
  fields: FieldKind[];
  rows: Record<string, string[]>;
  headline: string[];
}

export interface Session {
  version: string;
  reviewer: string;
  /** That of the page, if somebody said it. */
  language: string | null;
  rules: { name: string; hash: string };
  /** By kind of document; under an empty name, for all of them. */
  sets: Record<string, RuleSet>;
  documents: number;
  /** What is promised of documents that pass, if anything is. */
  promise: string | null;
}

export type Verdict = "accepted" | "rejected" | "skipped";

export interface Entry {
  n: number;
  id: string;
  error?: string;
  words: number;
  pages: number;
  status: string | null;
  optimal: boolean;
  violated: string[];
  unchecked: number;
  margin: number | null;
  confidence: number | null;
  reasons: string[];
  /** What the document is: who, when, how much. */
  heading: string[];
  passes: boolean;
  stops: number;
  /** What a look is worth; below zero, it costs more than it saves. */
  worth: number;
  verdict: Verdict | null;
  reviewer: string | null;
  pins: number;
  seq: number;
}

export interface Teaching {
  documents: number;
  /** Of the last documents accepted, how many the model had right before it learned from them. */
  right: number;
  of: number;
  /** Whether its answers are shown, and not those of the model that the review began with. */
  leads: boolean;
  busy: boolean;
  failure: string | null;
}

export interface Queue {
  documents: Entry[];
  progress: Record<"documents" | "accepted" | "rejected" | "skipped" | "open" | "passing" | "worth", number>;
  decoded: number;
  /** What a model has learned from accepted documents, if it does. */
  teaching?: Teaching;
  /** How many documents have been read, of so many, while some are still coming. */
  reading?: { done: number; of: number | null };
  /** Why documents are not decoded any more, if so. */
  failure?: string | null;
}

export interface Value {
  text: string;
  value: unknown;
  shown: string;
  words: Range;
  page?: number;
  row?: number;
  /** Whether somebody said it and it is printed nowhere. */
  nowhere?: boolean;
}

export type Fields = Record<string, Value[]>;

export interface Check {
  id: string;
  state: "satisfied" | "violated" | "vacuous";
  message: string;
  implied?: boolean;
  text: string;
  sum: string | null;
  /** The message of a violated rule, in the reader's language if the rules have it. */
  said?: string;
  words: Range[];
}

export interface Correction {
  word: number;
  old: string;
  new: string;
  why: string;
  odds: string;
}

export interface Move {
  word: number;
  old: string;
  new: string;
  pinned: boolean;
}

export interface Answer {
  status: string;
  optimal: boolean;
  labels: string[];
  fields: Fields;
  /** A hash of the labels: which answer this is. */
  digest: string;
  doubtful: string[];
  /** Where a person should look: fields, each with the number of a value. */
  stops: [string, number][];
  summary: string;
  checks: Check[];
  corrections: Correction[];
  moved?: Move[] | null;
  clash?: string[];
  classes?: Record<string, { value: string; first?: string }>;
}

export interface Alternative {
  fields: Fields;
  violated: string[];
  differs: string[];
  odds: string;
  /** All pins of the document once this alternative is chosen. */
  pins: Pin[];
}

/** Bounds of how likely a value is; far apart, and then not known, if the time was up. */
export interface Sure {
  low: number;
  high: number;
  known: boolean;
  text: string;
}

export interface Alternatives {
  seq: number;
  alternatives: Alternative[];
  confidence: Record<string, Sure>;
  margin: number | null;
  optimal: boolean;
  doubtful?: string[];
  stops?: [string, number][];
}

/** What pins would change. */
export interface Preview {
  changes: { field: string; old: string; new: string }[];
  worse: string[];
  clash: string[];
}

export interface Doc {
  n: number;
  id: string;
  rules: string;
  words: string[];
  boxes: [number, number, number, number][] | null;
  pages: number[] | null;
  sizes: [number, number][] | null;
  images: boolean[];
  joins?: boolean[] | null | undefined;
  texts: Record<string, string>;
  pins: Pin[];
  verdict: Verdict | null;
  note: string;
  reviewer: string | null;
  seq: number;
  undo: boolean;
  redo: boolean;
  /** An earlier review that was made for other words, other rules or another answer. */
  stale?: { what: "document" | "rules" | "answer"; message: string; pins: Pin[] } | null;
  answer: Answer;
  /** What the queue says about it now. */
  entry: Entry;
}

interface Problem {
  title: string;
  detail: string;
  status: number;
  document?: Doc;
  unseen?: string[];
}

/** The server said no; `problem` says why. */
export class Refused extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail || problem.title);
  }
}

/** Whether the server does not know the token: it was started again, or the address is wrong. */
export function isLocked(error: unknown): boolean {
  return error instanceof Refused && [401, 403].includes(error.problem.status);
}

/** No answer came: the server is gone, or the network is. */
export class Offline extends Error {}

const TOKEN = "lawful.token";
const REVIEWER = "lawful.reviewer";

/** Takes a token out of the address, so that it is neither shown nor kept in the history. */
export function takeToken(): boolean {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem(TOKEN, given);
    history.replaceState(null, "", location.pathname);
  }
  return Boolean(given);
}

export function chosenReviewer(): string | null {
  return localStorage.getItem(REVIEWER);
}

export function chooseReviewer(name: string): void {
  if (name) localStorage.setItem(REVIEWER, name);
  else localStorage.removeItem(REVIEWER);
}

async function ask(path: string, body?: object): Promise<Response> {
  const headers: Record<string, string> = {
    "Accept-Language": spoken(),
    Authorization: `Bearer ${sessionStorage.getItem(TOKEN) ?? ""}`,
  };
  const reviewer = chosenReviewer();
  // Headers are bytes, names are not: the server decodes this.
  if (reviewer) headers["X-Reviewer"] = encodeURIComponent(reviewer);
  if (body) headers["Content-Type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(`/api/${path}`, {
      method: body ? "POST" : "GET",
      headers,
      cache: "no-cache",
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  } catch {
    throw new Offline("no answer");
  }
  if (response.ok) return response;
  let problem: Problem;
  try {
    problem = (await response.json()) as Problem;
  } catch {
    problem = { title: response.statusText, detail: "", status: response.status };
  }
  throw new Refused({ ...problem, status: response.status });
}

async function answer<T>(path: string, body?: object): Promise<T> {
  const response = await ask(path, body);
  try {
    return (await response.json()) as T;
  } catch {
    throw new Offline("the answer was cut off");
  }
}

export const getSession = () => answer<Session>("session");
export const getQueue = () => answer<Queue>("queue");
export const getDocument = (n: number) => answer<Doc>(`documents/${n}`);
export const getAlternatives = (n: number) => answer<Alternatives>(`documents/${n}/alternatives`);

export const postPins = (doc: Doc, pins: Pin[]) =>
  answer<Doc>(`documents/${doc.n}/pins`, { base: doc.seq, pins });

export const postPreview = (doc: Doc, pins: Pin[]) =>
  answer<Preview>(`documents/${doc.n}/preview`, { base: doc.seq, pins });

/** Accepts documents that pass, or takes that back; answers with those that it was done to. */
export const postMany = (path: "accept" | "take-back", documents: [number, number][]) =>
  answer<{ documents: [number, number][] }>(path, { documents });

export const postStep = (doc: Doc, step: "undo" | "redo") =>
  answer<Doc>(`documents/${doc.n}/${step}`, { base: doc.seq });

export interface Decision {
  verdict: Verdict | null;
  note: string;
  seconds: number;
  confirmed: boolean;
}

export const postVerdict = (doc: Doc, decision: Decision) =>
  answer<Doc>(`documents/${doc.n}/verdict`, {
    base: doc.seq,
    answer: doc.answer.digest,
    ...decision,
  });

/** The picture of a page as an address that an image can show; revoke it after use. */
export async function getPicture(n: number, page: number): Promise<string> {
  const response = await ask(`documents/${n}/pages/${page}`);
  return URL.createObjectURL(await response.blob());
}
