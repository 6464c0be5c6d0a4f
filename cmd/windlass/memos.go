package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/commandline/answerflags"
	"github.com/windlass-run/windlass/internal/commandline/memosflags"
	"github.com/windlass-run/windlass/internal/memories"
)

func newMemosCommand(con *console) *cobra.Command {
	return memosflags.New(&memosflags.Console{
		In: con.in, Out: func() io.Writer { return con.out }, Err: func() io.Writer { return con.err },
		JSON: con.jsonFlag, Wide: con.wideFlag, Print: con.print, Table: con.table,
		Open: func() (*memories.Memos, error) {
			opened, err := con.open()
			if err != nil {
				return nil, err
			}
			return memories.OpenMemos(opened.Home(), ".", answerflags.UserName()), nil
		},
		Confirm: func(c memosflags.Consent, show func() error) error {
			return confirm(con, consent{would: c.Would, hint: c.Hint, question: c.Question, refused: c.Refused}, show)
		},
	})
}
