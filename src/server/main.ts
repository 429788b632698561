import { createConnection, ProposedFeatures, TextDocuments, TextDocumentSyncKind } from "vscode-languageserver/node";
import type { Diagnostic } from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import type { LanguageServerOptions } from "../protocol/language";
import { documentKind } from "./documentKind";
import { logDiagnostics, logHover } from "./logLanguage";
import { sessionCompletion } from "./sessionCompletion";
import { sessionDefinition, sessionDiagnostics, sessionHover } from "./sessionLanguage";

/** How long typing must pause before a document is read again, ms. */
const pauses = { session: 150, log: 400 } as const;

const connection = createConnection(ProposedFeatures.all);
const documents = new TextDocuments(TextDocument);
const pending = new Map<string, NodeJS.Timeout>();
const logFailures = new Map<string, readonly Diagnostic[]>();
let options: LanguageServerOptions = { logDiagnostics: true };

connection.onInitialize(({ initializationOptions }) => {
  const given: unknown = initializationOptions;
  if (typeof given === "object" && given !== null && "logDiagnostics" in given)
    options = { logDiagnostics: given.logDiagnostics !== false };
  return {
    capabilities: {
      textDocumentSync: TextDocumentSyncKind.Incremental,
      hoverProvider: true,
      definitionProvider: true,
      completionProvider: { triggerCharacters: [":", " ", "[", ","] },
    },
    serverInfo: { name: "ml-session" },
  };
});

documents.onDidChangeContent(({ document }) => {
  const kind = documentKind(document.uri, document.languageId);
  if (kind === undefined || (kind === "log" && !options.logDiagnostics)) return;
  clearTimeout(pending.get(document.uri));
  const timer = setTimeout(() => {
    pending.delete(document.uri);
    read(document.uri).catch((error: unknown) => {
      connection.console.error(
        `${document.uri}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
    });
  }, pauses[kind]);
  pending.set(document.uri, timer);
});

documents.onDidClose(({ document }) => {
  clearTimeout(pending.get(document.uri));
  pending.delete(document.uri);
  logFailures.delete(document.uri);
  void connection.sendDiagnostics({ uri: document.uri, diagnostics: [] });
});

async function read(uri: string): Promise<void> {
  const document = documents.get(uri);
  if (!document) return;
  const { version } = document;
  const isStale = (): boolean => documents.get(uri)?.version !== version;
  const diagnostics =
    documentKind(uri, document.languageId) === "session"
      ? sessionDiagnostics(document)
      : await logDiagnostics(document, isStale);
  if (diagnostics === undefined || isStale()) return;
  if (documentKind(uri, document.languageId) === "log") logFailures.set(uri, diagnostics);
  await connection.sendDiagnostics({ uri, version, diagnostics });
}

connection.onHover(({ textDocument, position }) => {
  const document = documents.get(textDocument.uri);
  if (!document) return null;
  if (documentKind(document.uri, document.languageId) === "session")
    return sessionHover(document, document.offsetAt(position)) ?? null;
  return logHover(logFailures.get(document.uri) ?? [], position.line, position.character) ?? null;
});

connection.onCompletion(({ textDocument, position }) => {
  const document = sessionDocument(textDocument.uri);
  return document ? sessionCompletion(document, document.offsetAt(position)) : [];
});

connection.onDefinition(({ textDocument, position }) => {
  const document = sessionDocument(textDocument.uri);
  return (document && sessionDefinition(document, document.offsetAt(position))) ?? null;
});

function sessionDocument(uri: string): TextDocument | undefined {
  const document = documents.get(uri);
  return document && documentKind(uri, document.languageId) === "session" ? document : undefined;
}

documents.listen(connection);
connection.listen();
