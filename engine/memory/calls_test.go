package memory

import (
	"fmt"
	"slices"
	"strings"
)

const (
	notes = Root + "/notes.md"
	three = "one\ntwo\nthree\n"
)

func oneFile(text string) Files { return Files{notes: text} }

func calls() []call {
	return slices.Concat(viewCalls(), createCalls(), replaceCalls(), insertCalls(), moveCalls(), argumentCalls(), ownCalls(), pathCalls(), limitCalls())
}

func viewCalls() []call {
	tree := Files{
		Root + "/a.md": strings.Repeat("x", 1536), Root + "/a/b.md": "b", Root + "/a/c/d.md": strings.Repeat("x", 1024), Root + "/a/c/e/f.md": "f",
		Root + "/.hidden": "h", Root + "/.git/config": "h", Root + "/node_modules/x/y.js": "h", Root + "/z/.hidden": "hh", Root + "/empty.md": "",
	}
	return []call{
		{title: "view", name: "view an empty bank", args: of("command", "view", "path", "/memories")},
		{name: "view the root", files: tree, args: of("command", "view", "path", "/memories")},
		{name: "view the root with a slash", files: oneFile("x"), args: of("command", "view", "path", "/memories/")},
		{name: "view a folder", files: tree, args: of("command", "view", "path", "/memories/a")},
		{name: "view a folder with a slash", files: tree, args: of("command", "view", "path", "/memories/a/")},
		{name: "view a hidden folder", files: tree, args: of("command", "view", "path", "/memories/.git")},
		{name: "view a folder with a range", files: oneFile("x"), args: of("command", "view", "path", "/memories", "view_range", []int{9, 2})},
		{name: "view a file", files: oneFile(three), args: of("command", "view", "path", notes)},
		{name: "view an empty file", files: oneFile(""), args: of("command", "view", "path", notes)},
		{name: "view a file with carriage returns", files: oneFile("one\r\ntwo"), args: of("command", "view", "path", notes, "view_range", nil)},
		{name: "view lines", files: oneFile(strings.Repeat("x\n", 12)), args: of("command", "view", "path", notes, "view_range", []int{9, 11})},
		{name: "view one line", files: oneFile(three), args: `{"command":"view","path":"/memories/notes.md","view_range":[2.0,2]}`},
		{name: "view to the end", files: oneFile(three), args: of("command", "view", "path", notes, "view_range", []int{3, -1})},
		{name: "view beyond the end", files: oneFile(three), args: of("command", "view", "path", notes, "view_range", []int{3, 2000})},
		{name: "view a missing path", files: oneFile(three), args: of("command", "view", "path", "/memories/missing.md")},
		{name: "view a file below a file", files: oneFile(three), args: of("command", "view", "path", notes+"/a")},
		{name: "view too many lines", files: oneFile(strings.Repeat("\n", 999_999)), args: of("command", "view", "path", notes)},
	}
}

func createCalls() []call {
	return []call{
		{title: "create", name: "create", args: of("command", "create", "path", notes, "file_text", three)},
		{name: "create an empty file", args: of("command", "create", "path", notes, "file_text", "")},
		{name: "create with folders", files: oneFile("x"), args: of("command", "create", "path", "/memories/a/b/c.md", "file_text", "c")},
		{name: "create a hidden file", args: of("command", "create", "path", "/memories/.plan", "file_text", "p")},
		{name: "create an existing file", files: oneFile("x"), args: of("command", "create", "path", notes, "file_text", "y")},
		{name: "create an existing folder", files: Files{"/memories/a/b.md": "b"}, args: of("command", "create", "path", "/memories/a", "file_text", "y")},
		{name: "create the root", args: of("command", "create", "path", "/memories", "file_text", "y")},
	}
}

func replaceCalls() []call {
	replace := func(old, text string) string {
		return of("command", "str_replace", "path", notes, "old_str", old, "new_str", text)
	}
	return []call{
		{title: "str_replace", name: "str_replace", files: oneFile(three), args: replace("two", "2")},
		{name: "str_replace in a long file", files: oneFile("1\n2\n3\n4\n5\n6\n7\n8\n9"), args: replace("5", "five")},
		{name: "str_replace by several lines", files: oneFile("1\n2\n3\n4\n5\n6\n7\n8\n9"), args: replace("4\n5", "a\nb\nc\nd\ne\nf")},
		{name: "str_replace by nothing", files: oneFile(three), args: replace("two\n", "")},
		{name: "str_replace of all", files: oneFile("all"), args: replace("all", "")},
		{name: "str_replace in a missing file", args: replace("two", "2")},
		{name: "str_replace in a folder", files: Files{notes + "/a": "two"}, args: replace("two", "2")},
		{name: "str_replace without a match", files: oneFile(three), args: replace("Two", "2")},
		{name: "str_replace with several matches", files: oneFile("a b\na\n\nb a a\n"), args: replace("a", "c")},
		{name: "str_replace with matches that begin with a line end", files: oneFile("a\nb\nb\n"), args: replace("\nb", "c")},
	}
}

func insertCalls() []call {
	insert := func(line int, text string) string {
		return of("command", "insert", "path", notes, "insert_line", line, "insert_text", text)
	}
	return []call{
		{title: "insert", name: "insert at the top", files: oneFile("one\ntwo"), args: insert(0, "zero")},
		{name: "insert in between", files: oneFile(three), args: insert(1, "a\nb\n\n")},
		{name: "insert at the end", files: oneFile(three), args: insert(3, "four")},
		{name: "insert into an empty file", files: oneFile(""), args: insert(0, "one\n")},
		{name: "insert an empty line", files: oneFile(three), args: insert(3, "")},
		{name: "insert before empty lines", files: oneFile("one\n\n\n"), args: insert(1, "two")},
		{name: "insert into a missing file", args: insert(0, "x")},
		{name: "insert into a folder", files: Files{notes + "/a": "a"}, args: insert(0, "x")},
		{name: "insert beyond the end", files: oneFile(three), args: insert(4, "x")},
		{name: "insert before the top", files: oneFile(three), args: insert(-1, "x")},
	}
}

func moveCalls() []call {
	tree := Files{"/memories/a/1.md": "1", "/memories/a/b/2.md": "2", "/memories/ab.md": "ab"}
	rename := func(from, to string) string { return of("command", "rename", "old_path", from, "new_path", to) }
	return []call{
		{title: "delete", name: "delete a file", files: oneFile("x"), args: of("command", "delete", "path", notes)},
		{name: "delete a folder", files: tree, args: of("command", "delete", "path", "/memories/a")},
		{name: "delete a missing path", files: tree, args: of("command", "delete", "path", "/memories/b")},
		{name: "delete the root", files: tree, args: of("command", "delete", "path", "/memories")},
		{name: "delete the root with a slash", files: tree, args: of("command", "delete", "path", "/memories/")},
		{title: "rename", name: "rename a file", files: tree, args: rename("/memories/ab.md", "/memories/c/d.md")},
		{name: "rename a folder", files: tree, args: rename("/memories/a/", "/memories/b")},
		{name: "rename into its own parent", files: tree, args: rename("/memories/a/b", "/memories/b")},
		{name: "rename a missing path", files: tree, args: rename("/memories/b", "/memories/c")},
		{name: "rename onto a file", files: tree, args: rename("/memories/ab.md", "/memories/a/1.md")},
		{name: "rename onto a folder", files: tree, args: rename("/memories/ab.md", "/memories/a")},
		{name: "rename onto itself", files: tree, args: rename("/memories/a", "/memories/a")},
		{name: "rename onto the root", files: tree, args: rename("/memories/a", "/memories")},
	}
}

func argumentCalls() []call {
	c := []call{
		{title: "Our own: arguments", name: "no JSON", args: `{"command":`},
		{name: "no object", args: `[1]`},
		{name: "null", args: `null`},
		{name: "no command", args: `{"path":"/memories"}`},
		{name: "an unknown command", args: of("command", "move")},
		{name: "an unknown argument", args: of("command", "view", "path", "/memories", "recursive", true)},
		{name: "an argument in upper case", args: of("command", "view", "PATH", "/memories")},
		{name: "an argument of another type", args: of("command", "view", "path", 5)},
		{name: "a range of another type", args: of("command", "view", "path", "/memories", "view_range", "1-2")},
		{name: "a range of texts", args: of("command", "view", "path", "/memories", "view_range", []string{"1", "2"})},
		{name: "a fraction of a line", args: of("command", "insert", "path", notes, "insert_line", 1.5, "insert_text", "")},
		{name: "a line far away", args: `{"command":"insert","path":"/memories/a","insert_line":1e30,"insert_text":""}`},
		{name: "not UTF-8", args: "{\"command\":\"view\",\"path\":\"/memories/\xff\"}"},
		{name: "an argument that is null", args: of("command", "create", "path", notes, "file_text", nil)},
		{name: "arguments of other commands", files: oneFile("x"), args: of("command", "delete", "path", notes, "old_path", "", "view_range", []int{})},
	}
	for _, command := range []string{commandView, commandCreate, commandReplace, commandInsert, commandDelete, commandRename} {
		for i, name := range needed[command] {
			args := []any{"command", command}
			for _, before := range needed[command][:i] {
				args = append(args, before, valueOf(before))
			}
			c = append(c, call{name: command + " without " + name, args: of(args...)})
		}
	}
	return c
}

func valueOf(argument string) any {
	if argument == "insert_line" {
		return 0
	}
	return notes
}

func ownCalls() []call {
	look := func(r ...int) string { return of("command", "view", "path", notes, "view_range", r) }
	rename := func(from, to string) string { return of("command", "rename", "old_path", from, "new_path", to) }
	create := func(path string) string { return of("command", "create", "path", path, "file_text", "x") }
	deep := "/memories/" + strings.Repeat("d/", 240)
	return []call{
		{title: "Our own: ranges", name: "a range from 0", files: oneFile(three), args: look(0, 2)},
		{name: "a range that ends before it begins", files: oneFile(three), args: look(3, 2)},
		{name: "a range to -2", files: oneFile(three), args: look(1, -2)},
		{name: "a range beyond the end", files: oneFile(three), args: look(5, -1)},
		{name: "a range of one number", files: oneFile(three), args: look(1)},
		{name: "a range of no number", files: oneFile(three), args: `{"command":"view","path":"/memories/notes.md","view_range":[]}`},
		{name: "a range of many numbers", files: oneFile(three), args: look(slices.Repeat([]int{1}, 50)...)},
		{title: "Our own: edits", name: "str_replace of nothing", files: oneFile(three), args: of("command", "str_replace", "path", notes, "old_str", "", "new_str", "x")},
		{name: "str_replace with matches that overlap", files: oneFile("aaa"), args: of("command", "str_replace", "path", notes, "old_str", "aa", "new_str", "x")},
		{name: "str_replace with very many matches", files: oneFile(strings.Repeat("a\n", 200)), args: of("command", "str_replace", "path", notes, "old_str", "a", "new_str", "x")},
		{name: "str_replace of a long text", files: oneFile(three), args: of("command", "str_replace", "path", notes, "old_str", strings.Repeat("y", 2001), "new_str", "x")},
		{title: "Our own: places", name: "create below a file", files: oneFile("x"), args: create(notes + "/a/b.md")},
		{name: "rename below a file", files: Files{notes: "x", "/memories/a": "a"}, args: rename("/memories/a", notes+"/a")},
		{name: "rename the root", files: oneFile("x"), args: rename("/memories", "/memories/a")},
		{name: "rename a folder into itself", files: Files{"/memories/a/b": "b"}, args: rename("/memories/a", "/memories/a/c")},
		{name: "rename a file into itself", files: oneFile("x"), args: rename(notes, notes+"/a")},
		{name: "rename so that a path is too long", files: Files{"/memories/a/" + strings.Repeat("f", 40): "f"}, args: rename("/memories/a", deep+"x")},
		{name: "create what differs in case", files: oneFile("x"), args: create("/memories/NOTES.md")},
		{name: "create in a folder that differs in case", files: Files{"/memories/straße/a.md": "a"}, args: create("/memories/STRASSE/b.md")},
		{name: "create what differs in encoding", files: Files{"/memories/caf\u00e9.md": "x"}, args: create("/memories/cafe\u0301.md")},
		{name: "rename to what differs in case", files: oneFile("x"), args: rename(notes, "/memories/Notes.md")},
		{name: "create beside two that differ in case", files: Files{"/memories/a/1": "", "/memories/A/1": ""}, args: create("/memories/a/2")},
	}
}

func pathCalls() []call {
	rename := func(from, to string) string { return of("command", "rename", "old_path", from, "new_path", to) }
	create := func(path string) string { return of("command", "create", "path", path, "file_text", "x") }
	return []call{
		{title: "Our own: paths", name: "another folder", args: create("/tmp/notes.md")},
		{name: "a path that leaves", args: create("/memories/../../../etc/passwd")},
		{name: "a path that leaves and comes back", args: create("/memories/a/../b")},
		{name: "a folder that begins like the root", args: create("/memoriesx/a")},
		{name: "an empty name", args: create("/memories//a")},
		{name: "a dot", args: create("/memories/./a")},
		{name: "a backslash", args: create(`/memories/a\b`)},
		{name: "a percent-encoded dot", args: create("/memories/%2E%2E/a")},
		{name: "a hidden character", args: create("/memories/a\u202egpj.md")},
		{name: "a line end", args: create("/memories/a\nb")},
		{name: "a slash of another kind", args: create("/memories/a\u2215b")},
		{name: "a space at the end", args: create("/memories/a /b")},
		{name: "a combining character", args: create("/memories/\u0338a")},
		{name: "a long name", args: create("/memories/" + strings.Repeat("x", 256))},
		{name: "a long path", args: create("/memories" + strings.Repeat("/abcdefghi", 60))},
		{name: "an old path that is wrong", args: rename("/memories/a\u200bb", notes)},
		{name: "a new path that is wrong", files: oneFile("x"), args: rename(notes, "notes.md")},
	}
}

func limitCalls() []call {
	many, large := Files{}, Files{}
	for i := range MaxFiles {
		many[fmt.Sprintf("/memories/%04d", i)] = ""
	}
	for i := range MaxBank / MaxFile {
		large[fmt.Sprintf("/memories/%04d", i)] = strings.Repeat("x", MaxFile)
	}
	rest := MaxBank % MaxFile
	large[notes] = strings.Repeat("x", rest)
	full := oneFile(strings.Repeat("x", MaxFile))
	create := func(path, text string) string { return of("command", "create", "path", path, "file_text", text) }
	return []call{
		{title: "Our own: limits", name: "the largest file", args: create(notes, strings.Repeat("x", MaxFile))},
		{name: "create a file that is too large", args: create(notes, strings.Repeat("x", MaxFile+1))},
		{name: "str_replace makes a file too large", files: oneFile("a" + strings.Repeat("x", MaxFile-1)), args: of("command", "str_replace", "path", notes, "old_str", "a", "new_str", "bb")},
		{name: "insert makes a file too large", files: full, args: of("command", "insert", "path", notes, "insert_line", 0, "insert_text", "a")},
		{name: "too many files", files: many, args: create(notes, "")},
		{name: "rename among the most files", files: many, args: of("command", "rename", "old_path", "/memories/0000", "new_path", notes)},
		{name: "a bank that is too large", files: large, args: create("/memories/a", "x")},
		{name: "an empty file in a full bank", files: large, args: create("/memories/a", "")},
		{name: "insert makes a bank too large", files: large, args: of("command", "insert", "path", notes, "insert_line", 0, "insert_text", "")},
		{name: "a NUL character", args: create(notes, "a\x00b")},
		{name: "a NUL character inserted", files: oneFile("x"), args: of("command", "insert", "path", notes, "insert_line", 0, "insert_text", "\x00")},
		{name: "a NUL character put in", files: oneFile("x"), args: of("command", "str_replace", "path", notes, "old_str", "x", "new_str", "\x00")},
	}
}
