package cli

// A LineEditor reads what a person types at a terminal, who may edit the line and bring
// earlier ones back.
type LineEditor interface {
	// Read returns the next line without its end; the error is io.EOF when there is none.
	Read(prompt string) (string, error)
	// Past returns the lines that were kept, those of earlier sessions too, oldest first.
	Past() []string
	// Keep makes the line one that can be brought back, now and in later sessions.
	Keep(line string)
	// Close gives the terminal back as it was.
	Close() error
}
