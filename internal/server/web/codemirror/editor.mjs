// The editor of the page, made of CodeMirror. vendor.sh puts it with CodeMirror into codemirror/editor.min.js, which makes the
// global windlassEditor.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, foldKeymap, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

// The colours are those of the page, whose custom properties a shadow root inherits.
const theme = EditorView.theme({
  "&": { fontSize: ".88rem", color: "var(--text)", backgroundColor: "var(--page)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace', lineHeight: "1.5", minHeight: "12rem", maxHeight: "70vh" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { color: "var(--soft)", backgroundColor: "var(--card)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "transparent", boxShadow: "inset 2px 0 0 var(--accent)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { backgroundColor: "var(--line)" },
  ".cm-tooltip": { color: "var(--text)", backgroundColor: "var(--card)", border: "1px solid var(--strong)", borderRadius: "6px" },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "inherit", maxWidth: "min(34rem, 90vw)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { color: "var(--on-accent)", backgroundColor: "var(--accent)" },
  ".cm-completionDetail": { fontStyle: "normal", opacity: "1" },
  ".cm-completionInfo": { maxWidth: "min(22rem, 80vw)", padding: ".4rem .6rem", whiteSpace: "pre-wrap" },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--card)" },
  ".cm-textfield": { color: "var(--text)", backgroundColor: "var(--page)", border: "1px solid var(--strong)" },
  ".cm-button": { color: "var(--text)", backgroundColor: "var(--page)", backgroundImage: "none", border: "1px solid var(--strong)" },
  ".cm-specialChar": { color: "var(--bad)" },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.content], color: "var(--text)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--warn)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

/**
 * Makes an editor in an element, in a shadow root: its styles are sheets that a script adopts, which a policy without inline
 * styles allows. complete gets the text before the cursor and returns {from, options} or null; changed is called after each change.
 */
export function create({ parent, text, language, label, complete, changed }) {
  const root = parent.attachShadow({ mode: "open" });
  const view = new EditorView({
    parent: root, root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), foldGutter(), lintGutter(), highlightSpecialChars(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(),
        highlightActiveLine(), EditorView.lineWrapping, search({ top: true }), syntaxHighlighting(colours), theme, language === "json" ? json() : yaml(),
        autocompletion({ icons: false, override: [(context) => complete(context.state.doc.sliceString(0, context.pos), context.explicit)] }),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap]),
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", autocapitalize: "off" }),
        EditorView.updateListener.of((update) => { if (update.docChanged) changed(); }),
      ],
    }),
  });
  // at returns the offset of a line and a column in characters, both from 1.
  const at = (line, col) => {
    const l = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
    return l.from + [...l.text].slice(0, Math.max(col - 1, 0)).join("").length;
  };
  return {
    text: () => view.state.doc.toString(),
    focus: () => view.focus(),
    go(line, col) {
      view.dispatch({ selection: { anchor: at(line, col) }, scrollIntoView: true });
      view.focus();
    },
    show(found) {
      const list = found.map((d) => ({ from: at(d.line, d.col), to: Math.max(at(d.line, d.col), at(d.line, d.end_col)), severity: d.severity, message: d.hint ? d.message + "\n" + d.hint : d.message }));
      view.dispatch(setDiagnostics(view.state, list));
    },
  };
}
