// Package interactive owns a person's side of an interactive job: it waits for the job, connects the terminal to its session through
// whatever dies on the way, and gives the terminal back; a command without a terminal has its standard streams connected. What the person is
// told is the command's affair. Run is over when it returns, but for the reader of the keyboard, which ends with its next key.
package interactive
