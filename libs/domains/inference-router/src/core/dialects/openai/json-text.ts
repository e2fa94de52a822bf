/** Finds the end of a JSON object or array whose text arrives in parts. Each character is read once. */
export class JsonText {
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  private isEnded = false;
  private length = 0;

  /** An object or array has been read to its last bracket. */
  get isComplete(): boolean {
    return this.isEnded;
  }

  /** It is complete and has no content. */
  get isEmpty(): boolean {
    return this.isEnded && this.length === 2;
  }

  add(part: string): void {
    for (const character of part) {
      if (this.isInString || character.trim() !== '') this.length += 1;
      if (this.isInString) this.readInString(character);
      else if (character === '"') this.isInString = true;
      else if (character === '{' || character === '[') this.depth += 1;
      else if (character === '}' || character === ']') {
        this.depth -= 1;
        if (this.depth === 0) this.isEnded = true;
      }
    }
  }

  private readInString(character: string): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (character === '\\') this.isEscaped = true;
    else if (character === '"') this.isInString = false;
  }
}
