// Package memosflags has the commands of windlass memos: what their flags say, and what they print.
package memosflags

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/memories"
	"github.com/windlass-run/windlass/internal/term"
)

// Console is what the commands have of the program: its streams, and how it prints and asks.
type Console struct {
	In      io.Reader
	Out     func() io.Writer // as it is while something is printed: it may be a pager
	Err     func() io.Writer
	Open    func() (*memories.Memos, error) // those of this folder
	JSON    func(*cobra.Command)            // adds --json
	Wide    func(*cobra.Command) *cobra.Command
	Print   func(value any, text func() error) error // as JSON where that is wanted
	Table   func(*term.Table) error
	Confirm func(what Consent, show func() error) error
}

// Consent is what a person is asked before something that cannot be undone.
type Consent struct {
	Would    string // what would be done, for where nobody can be asked
	Hint     string
	Question string
	Refused  string // what a person is told who does not say yes
}

// say prints lines without what a terminal takes for commands.
func say(to io.Writer, lines []string) error {
	_, err := io.WriteString(to, term.CleanLines(strings.Join(lines, "\n"))+"\n")
	return err
}

// command makes a command about the memos of this folder.
func (c *Console) command(cmd *cobra.Command, run func(cmd *cobra.Command, desk *memories.Memos, args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		desk, err := c.Open()
		if err != nil {
			return err
		}
		return run(cmd, desk, args)
	}
	c.JSON(cmd)
	return cmd
}
