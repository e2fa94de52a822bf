interface Question<Answer> {
  readonly answer: Promise<Answer>;
  /** Begins when `answer` is there; whoever comes meanwhile shares it. */
  next?: Promise<Answer>;
}

/**
 * Answers that are true at a moment after each caller came, from few questions:
 * one at a time for each key, and whoever comes while one is under way shares
 * the next. The one under way is not theirs to share: it may tell what was the
 * case before they came. Nothing is kept.
 */
export class NextAnswers<Answer> {
  private readonly underWay = new Map<string, Question<Answer>>();

  ask(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    const question = this.underWay.get(key);
    if (question === undefined) return this.begin(key, ask);
    const begin = () => this.begin(key, ask);
    return (question.next ??= question.answer.then(begin, begin));
  }

  private begin(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    const question: Question<Answer> = { answer: ask() };
    this.underWay.set(key, question);
    const settle = (): void => {
      if (question.next === undefined && this.underWay.get(key) === question) this.underWay.delete(key);
    };
    question.answer.then(settle, settle);
    return question.answer;
  }
}
