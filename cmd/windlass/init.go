package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/scaffold"
	"github.com/windlass-run/windlass/internal/term"
)

func newInitCommand(con *console) *cobra.Command {
	var o scaffold.Options
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Make a first cascade that runs as it is",
		Long: `Make a first cascade in a folder (default: the working folder): the cascade, a script so that it runs with --offline
at once, windlass.json, the JSON Schema for editors, and a line in .gitignore. On a terminal it asks for what no flag
says; elsewhere it takes the defaults. It overwrites nothing: when one of the files exists, it writes none and the exit
code is 2.

Templates: minimal has one phase; tools has file tools, a command as a tool and a command that validates; context has
three phases, the last of which gets selected messages of the earlier ones.`,
		Example: "  windlass init\n  windlass init reports --template tools\n" +
			"  windlass init reports --name weekly --task 'Summarise the week.' --model gpt-5-mini",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return takes(1, "at most one folder", "")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return initialise(con, cmd, dir, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Name, "name", "", "the `NAME` of the cascade and its file (default: that of the folder)")
	f.StringVar(&o.Template, "template", scaffold.DefaultTemplate, "the `TEMPLATE`: "+strings.Join(scaffold.Names(), ", "))
	f.StringVar(&o.Task, "task", "", "the `TEXT` of what the first phase does")
	f.StringVar(&o.Model, "model", scaffold.DefaultModel, "the default `MODEL`, for windlass.json")
	con.jsonFlag(cmd)
	return cmd
}

// made is what "windlass init --json" prints.
type made struct {
	Files []string `json:"files"`
	Next  []string `json:"next"` // commands to type, in this order
}

func initialise(con *console, cmd *cobra.Command, dir string, o scaffold.Options) error {
	folder, err := filepath.Abs(dir)
	if err != nil {
		return exit.UsageError(err, "windlass init DIR")
	}
	given := cmd.Flags().Changed
	if !given("name") {
		o.Name = scaffold.NameFor(folder)
	}
	if !given("task") {
		o.Task = scaffold.DefaultTask(o.Template)
	}
	if term.IsTerminalInput(con.in) && term.IsTerminal(con.err) && !con.asJSON {
		q := &questions{in: bufio.NewReader(con.in), out: con.err}
		q.ask(!given("name"), "Name of the cascade", &o.Name)
		q.ask(!given("task"), "What the first phase does", &o.Task)
		q.ask(!given("model"), "Model", &o.Model)
		if q.err != nil {
			return exit.With(exit.Interrupted, q.err, "")
		}
	}
	above := configAbove(folder)
	m, err := makeCascade(dir, o)
	if err != nil {
		return err
	}
	if above != "" {
		fmt.Fprintf(con.err, "Note: in this folder %s no longer counts: the new windlass.json does.\n", term.Clean(above))
	}
	return con.print(m, func() error { return printMade(con, m, o) })
}

// configAbove returns the windlass.json that counts in a folder now.
func configAbove(folder string) string {
	home, err := config.Home()
	if err != nil {
		return ""
	}
	path, _ := config.Find(folder, home) // a folder that cannot be read is found when it is written
	return path
}

func makeCascade(dir string, o scaffold.Options) (made, error) {
	if err := o.Check(); err != nil {
		hint := "windlass init --help"
		if wrong, ok := errors.AsType[*scaffold.OptionError](err); ok {
			hint = "another --" + wrong.Option
		}
		return made{}, exit.UsageError(err, hint)
	}
	files, err := scaffold.Files(o)
	if err != nil {
		return made{}, err
	}
	written, err := scaffold.Write(dir, files)
	if errors.As(err, new(*scaffold.ExistsError)) {
		return made{}, exit.UsageError(err, "another folder: windlass init DIR")
	}
	if err != nil {
		return made{}, exit.With(exit.Usage, err, "check that the folder can be written")
	}
	m := made{Files: written}
	if clean := filepath.Clean(dir); clean != "." {
		m.Next = append(m.Next, "cd "+commandline.Path(clean))
	}
	file := files[0].Name
	m.Next = append(m.Next, "windlass run "+file+" --offline", "windlass run "+file)
	return m, nil
}

func printMade(con *console, m made, o scaffold.Options) error {
	var b strings.Builder
	b.WriteString("Made:\n")
	for _, path := range m.Files {
		fmt.Fprintf(&b, "  %s\n", term.Clean(path))
	}
	b.WriteString("\nNext:\n")
	for i, command := range m.Next {
		switch len(m.Next) - i {
		case 2:
			command += "    # answers from the script, costs nothing"
		case 1:
			command += fmt.Sprintf("              # asks %s, needs OPENAI_API_KEY", o.Model)
		}
		fmt.Fprintf(&b, "  %s\n", term.Clean(command))
	}
	_, err := io.WriteString(con.out, b.String())
	return err
}

// longestQuestion is how long a question with its proposal is in one line.
const longestQuestion = 50

// questions asks a person, who may take what is proposed by an empty line.
type questions struct {
	in  *bufio.Reader
	out io.Writer
	err error // the first that ended the questions
}

func (q *questions) ask(wanted bool, question string, value *string) {
	if !wanted || q.err != nil {
		return
	}
	between := " "
	if len(question)+len(*value) > longestQuestion {
		between = "\n  "
	}
	fmt.Fprintf(q.out, "%s%s[%s]: ", question, between, term.Clean(*value))
	line, err := q.in.ReadString('\n')
	if err != nil {
		fmt.Fprintln(q.out)
		q.err = errors.New("the questions were not answered, and nothing was written")
		return
	}
	if line = strings.TrimSpace(line); line != "" {
		*value = line
	}
}
