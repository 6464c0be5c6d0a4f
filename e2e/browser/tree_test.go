//go:build unix

package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/server/page/pagetest"
)

// TestAccessibilityTree holds what assistive technology sees of the list and of the page of each kind against golden files.
func TestAccessibilityTree(t *testing.T) {
	s := newSite(t, pagetest.All())
	b := enter(t, s)
	b.golden("list")
	b.picture("list")
	for _, x := range pagetest.All() {
		b.open(s.url(x.Name))
		b.golden(x.Name)
		b.picture(x.Name)
	}
}

// golden holds the accessibility tree of the page against a file.
func (b *tab) golden(name string) {
	b.t.Helper()
	path := filepath.Join("testdata", name+".tree")
	got := b.tree()
	if *update {
		require.NoError(b.t, os.MkdirAll("testdata", 0o755))
		require.NoError(b.t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(b.t, err)
	require.Equal(b.t, string(want), got, "the accessibility tree of %s; make e2e-browser FLAGS=-update writes it", name)
}

// tree writes the accessibility tree: a line for each node, with role, name, description and states.
func (b *tab) tree() string {
	b.t.Helper()
	nodes := call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes
	byID := map[accessibility.NodeID]*accessibility.Node{}
	for _, n := range nodes {
		byID[n.NodeID] = n
	}
	var out strings.Builder
	write(&out, byID, nodes[0], 0)
	return out.String()
}

func write(out *strings.Builder, byID map[accessibility.NodeID]*accessibility.Node, n *accessibility.Node, depth int) {
	role := valueOf(n.Role)
	if role == "InlineTextBox" {
		return
	}
	if !n.Ignored && role != "none" && role != "generic" {
		fmt.Fprintf(out, "%s%s", strings.Repeat("  ", depth), role)
		for _, v := range []*accessibility.Value{n.Name, n.Description, n.Value} {
			if text := valueOf(v); text != "" {
				fmt.Fprintf(out, " %q", text)
			}
		}
		for _, p := range n.Properties {
			switch p.Name { // the others follow from the role
			case accessibility.PropertyNameChecked, accessibility.PropertyNameRequired, accessibility.PropertyNameInvalid, accessibility.PropertyNameLevel,
				accessibility.PropertyNameSelected, accessibility.PropertyNameLive, accessibility.PropertyNameDisabled:
				if text := valueOf(p.Value); text != "false" && text != "" {
					fmt.Fprintf(out, " %s=%s", p.Name, text)
				}
			}
		}
		out.WriteByte('\n')
		depth++
	}
	for _, id := range n.ChildIDs {
		if child := byID[id]; child != nil {
			write(out, byID, child, depth)
		}
	}
}

func valueOf(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	var any any
	if json.Unmarshal(v.Value, &any) != nil || any == nil {
		return ""
	}
	return fmt.Sprint(any)
}

// frameText returns what assistive technology reads of the frame of the page.
func (b *tab) frameText() string {
	b.t.Helper()
	var out strings.Builder
	for _, n := range call(b.frame(), accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		fmt.Fprintln(&out, valueOf(n.Name))
	}
	return out.String()
}

// frame returns the frame of the page, which has a process of its own, as it has an origin of its own.
func (b *tab) frame() *tab {
	b.t.Helper()
	targets, err := chromedp.Targets(b.ctx)
	require.NoError(b.t, err)
	here := js[string](b, "location.href")
	var there []string
	for _, x := range targets {
		there = append(there, x.Type+" "+x.URL)
		if x.Type != "iframe" || x.URL != here+"/html" {
			continue
		}
		ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithTargetID(x.TargetID))
		b.t.Cleanup(cancel) // which closes the page
		frame := &tab{b.t, ctx}
		frame.do()
		return frame
	}
	require.Fail(b.t, "there is no frame with a process of its own", "%s: %q", here, there)
	return nil
}
