export { parser, Strikethrough, Table } from '@lezer/markdown';
