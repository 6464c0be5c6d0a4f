package modeltext

import "strings"

// fence is what opens a block of code in Markdown.
const fence = "```"

// jsonBlocks returns the content of ```json blocks; the last may be unclosed. None is in a
// quotation (>) or another block: an answer that quotes a hostile file must not make its calls.
func jsonBlocks(text string) []string {
	var blocks []string
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		marks, info := openFence(line)
		switch {
		case marks == 0:
			text = rest
		case strings.HasPrefix(info, "json"):
			// The block may begin and even end on the line of its fence.
			body := info[len("json"):] + text[len(line):]
			var block string
			block, text = closeJSON(body, strings.Repeat("`", marks))
			blocks = append(blocks, block)
		default:
			text = afterBlock(rest, marks)
		}
	}
	return blocks
}

// openFence returns the number of backticks that open a block on a line, and what follows them.
// Only a ```json fence may follow other text.
func openFence(line string) (marks int, info string) {
	trimmed := strings.TrimLeft(line, " \t")
	if strings.HasPrefix(trimmed, ">") {
		return 0, ""
	}
	if !strings.HasPrefix(trimmed, fence) {
		at := strings.Index(trimmed, fence+"json")
		if at < 0 {
			return 0, ""
		}
		trimmed = trimmed[at:]
	}
	info = strings.TrimLeft(trimmed, "`")
	return len(trimmed) - len(info), info
}

// closeJSON splits the text behind an opening fence at the one that closes the block.
func closeJSON(body, marks string) (block, rest string) {
	if line, after, _ := strings.Cut(body, "\n"); strings.HasSuffix(strings.TrimSpace(line), marks) {
		return strings.TrimSuffix(strings.TrimSpace(line), marks), after
	}
	end := strings.Index(body, "\n"+marks)
	if end < 0 {
		return strings.TrimSuffix(strings.TrimSpace(body), marks), ""
	}
	_, rest, _ = strings.Cut(body[end+1:], "\n")
	return body[:end], rest
}

// afterBlock returns what follows a block that is not JSON. One that is never closed is no block.
func afterBlock(text string, marks int) string {
	for rest := text; rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		line = strings.TrimSpace(line)
		if len(line) >= marks && strings.Trim(line, "`") == "" {
			return rest
		}
	}
	return text
}
