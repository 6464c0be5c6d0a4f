package quote

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The commands that do more with an argument than take it.
var (
	// evaluating builtins take words as commands, variables or arithmetic. None may have a value.
	evaluating = []string{
		"eval", ".", "source", "trap", "let", "declare", "typeset", "export", "readonly", "local", "unset", "read", "mapfile", "readarray", "getopts",
		"alias", "unalias", "bind", "complete", "compgen", "compopt", "enable", "hash", "fc", "history", "shopt", "wait", "jobs", "kill", "ulimit",
		"umask", "return", "exit", "shift", "break", "continue", "[[", "((", "select", "function", "coproc", "nameref", "integer", "float",
	}

	// starting commands run the command that follows their options.
	starting = []string{
		"command", "builtin", "exec", "env", "nohup", "nice", "ionice", "timeout", "time", "xargs", "sudo", "doas", "setsid", "stdbuf", "busybox",
		"chroot", "watch", "unshare", "nsenter", "flock", "su", "runuser", "script", "parallel", "strace", "ltrace", "gdb", "unbuffer", "chrt", "taskset",
	}

	// interpreting commands take their first operand, or what follows -c or -e, as a program.
	interpreting = []string{
		"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "rbash", "python", "python2", "python3", "perl", "ruby", "node", "nodejs",
		"deno", "bun", "php", "lua", "awk", "gawk", "mawk", "nawk", "sed", "gsed", "tclsh", "osascript", "ed", "ex", "vi", "vim", "m4", "make", "ssh", "Rscript",
	}

	// programOptions are followed by a program.
	programOptions = []string{"-c", "-e", "-E", "-f", "-r", "-p", "--eval", "--expression", "--file", "--command", "--exec", "-exec", "-execdir", "-ok", "-okdir"}
)

// argument says why a value may not be the argument i of a command.
func (c *commandCheck) argument(args []*syntax.Word, i int) string {
	if i == 0 {
		return "a value cannot be the name of the command, or a part of it"
	}
	called := name(args)
	switch {
	case called == "":
		return "a value cannot be an argument of a command whose name is not written out"
	case slices.Contains(evaluating, called):
		return fmt.Sprintf("a value cannot be an argument of %s, which evaluates it", called)
	case called == "test" || called == "[":
		return c.tested(args, i)
	case called == "printf":
		return printed(args, i)
	case called == "find" || called == "fd":
		return found(args, i)
	case slices.Contains(starting, called):
		return c.started(called, args, i)
	case slices.Contains(interpreting, called):
		return interpreted(called, args, i)
	}
	return ""
}

// tested: test takes words for operators among several, and for variables after -v.
func (c *commandCheck) tested(args []*syntax.Word, i int) string {
	for _, w := range args[1:] {
		switch text := writtenOut(w); text {
		case "-v", "-R", "-a", "-o", "(", "-t":
			return fmt.Sprintf("a value cannot be an argument of test with %s; write one test for each comparison", text)
		}
	}
	for _, near := range []int{i - 1, i + 1} {
		if near < 1 || near >= len(args) {
			continue
		}
		if _, ok := static(args[near]); !ok {
			return "a value cannot stand beside another one in test: it would be taken for an operator"
		}
	}
	return ""
}

// printed: printf writes into the variable that -v names.
func printed(args []*syntax.Word, i int) string {
	first, ok := static(args[1])
	if i == 1 || !ok || first == "-v" {
		return "a value cannot be the format of printf, or stand after -v; write printf '%s' before it"
	}
	return ""
}

// found: the expression of find can run programs.
func found(args []*syntax.Word, i int) string {
	inExpression := false
	for _, w := range args[1:i] {
		text := writtenOut(w)
		if slices.Contains(programOptions, text) || text == "-x" || text == "-X" {
			return "a value cannot be in a command that find runs"
		}
		inExpression = inExpression || strings.HasPrefix(text, "-")
	}
	if inExpression && !strings.HasPrefix(writtenOut(args[i-1]), "-") {
		return "a value cannot stand in the expression of find but after its option, such as -name"
	}
	return ""
}

// writtenOut returns the text of a word; one that depends on something has none.
func writtenOut(w *syntax.Word) string {
	text, _ := static(w)
	return text
}

// isOperand reports whether the text of a word is neither empty nor an option.
func isOperand(text string) bool { return text != "" && text[0] != '-' && text[0] != '+' }

// started checks the command that a command starts: any word before the value may be its name.
func (c *commandCheck) started(called string, args []*syntax.Word, i int) string {
	named := false
	for k := 1; k < i; k++ {
		if text := writtenOut(args[k]); !isOperand(text) || strings.Contains(text, "=") || isDuration(text) {
			continue
		}
		named = true
		if why := c.argument(args[k:], i-k); why != "" {
			return why
		}
	}
	if !named {
		return fmt.Sprintf("a value cannot stand before the command that %s starts, or be its name", called)
	}
	return ""
}

// isDuration reports whether a word is a number, or what timeout is given.
func isDuration(text string) bool {
	digits := strings.TrimRight(text, "smhd")
	return len(text)-len(digits) <= 1 && digits != "" && strings.Trim(digits, "0123456789.") == ""
}

// interpreted: a program comes first.
func interpreted(called string, args []*syntax.Word, i int) string {
	if slices.Contains(programOptions, writtenOut(args[i-1])) {
		return fmt.Sprintf("a value cannot be the program of %s", called)
	}
	if slices.ContainsFunc(args[1:i], func(w *syntax.Word) bool { return isOperand(writtenOut(w)) }) {
		return ""
	}
	return fmt.Sprintf("a value cannot be the program of %s; write the program out before it", called)
}

// call checks commands that may be given a value to run on their input.
func (c *commandCheck) call(n *syntax.CallExpr) {
	called := name(n.Args)
	args := n.Args
	if slices.Contains(starting, called) {
		replaces := slices.ContainsFunc(args[1:], func(w *syntax.Word) bool {
			return replacing.MatchString(writtenOut(w))
		})
		for k := 1; k < len(args); k++ {
			next := name(args[k:])
			if slices.Contains(interpreting, next) && replaces && called == "xargs" {
				c.refuse(-1, fmt.Sprintf("a command with values cannot have xargs put its input into what %s runs", next))
				return
			}
			if slices.Contains(shells, next) {
				called, args = next, args[k:]
				break
			}
		}
	}
	if slices.Contains(shells, called) && !slices.ContainsFunc(args[1:], operand) {
		c.refuse(-1, fmt.Sprintf("a command with values cannot have %s read its commands from the input", called))
	}
}

// replacing are the options by which xargs puts its input into an argument.
var replacing = regexp.MustCompile(`^(-[IiJ]|--replace)`)

// shells are interpreters that are often given a program on their input.
var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "python", "python3", "perl", "ruby", "node", "at", "batch"}

func operand(w *syntax.Word) bool {
	text, ok := static(w)
	return !ok || isOperand(text)
}
