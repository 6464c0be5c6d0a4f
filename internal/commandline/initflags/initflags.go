// Package initflags makes a first cascade as windlass init wants it: asks for what no flag says, and says what was made.
package initflags

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/scaffold"
	"github.com/windlass-run/windlass/internal/term"
)

// Made is what "windlass init --json" prints.
type Made struct {
	Files []string `json:"files"`
	Next  []string `json:"next"` // commands to type, in this order
}

// ConfigAbove returns the windlass.json that counts in a folder now.
func ConfigAbove(folder string) string {
	home, err := config.Home()
	if err != nil {
		return ""
	}
	path, _ := config.Find(folder, home) // a folder that cannot be read is found when it is written
	return path
}

// Make makes the files of a cascade in a folder.
func Make(dir string, o scaffold.Options) (Made, error) {
	if err := o.Check(); err != nil {
		hint := "windlass init --help"
		if wrong, ok := errors.AsType[*scaffold.OptionError](err); ok {
			hint = "another --" + wrong.Option
		}
		return Made{}, exit.UsageError(err, hint)
	}
	files, err := scaffold.Files(o)
	if err != nil {
		return Made{}, err
	}
	written, err := scaffold.Write(dir, files)
	if errors.As(err, new(*scaffold.ExistsError)) {
		return Made{}, exit.UsageError(err, "another folder: windlass init DIR")
	}
	if err != nil {
		return Made{}, exit.With(exit.Usage, err, "check that the folder can be written")
	}
	m := Made{Files: written}
	if clean := filepath.Clean(dir); clean != "." {
		m.Next = append(m.Next, "cd "+commandline.Path(clean))
	}
	file := files[0].Name
	m.Next = append(m.Next, "windlass run "+file+" --offline", "windlass run "+file)
	return m, nil
}

// Write says what was made and what to type next.
func (m Made) Write(out io.Writer, o scaffold.Options) error {
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
	_, err := io.WriteString(out, b.String())
	return err
}

// longestQuestion is how long a question with its proposal is in one line.
const longestQuestion = 50

// Questions asks a person, who may take what is proposed by an empty line.
type Questions struct {
	In  *bufio.Reader
	Out io.Writer
	Err error // the first that ended the questions
}

// Ask asks one question, if it is wanted, and puts the answer in the place of the value.
func (q *Questions) Ask(wanted bool, question string, value *string) {
	if !wanted || q.Err != nil {
		return
	}
	between := " "
	if len(question)+len(*value) > longestQuestion {
		between = "\n  "
	}
	fmt.Fprintf(q.Out, "%s%s[%s]: ", question, between, term.Clean(*value))
	line, err := q.In.ReadString('\n')
	if err != nil {
		fmt.Fprintln(q.Out)
		q.Err = errors.New("the questions were not answered, and nothing was written")
		return
	}
	if line = strings.TrimSpace(line); line != "" {
		*value = line
	}
}
