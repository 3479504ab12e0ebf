import { count } from './figures.ts';

interface PagerProps {
  page: { page: number; totalPages: number; total: number; hasNext: boolean; hasPrev: boolean };
  onTurn: (page: number) => void;
}

export function Pager({ page: { page, totalPages, total, hasNext, hasPrev }, onTurn }: PagerProps) {
  if (totalPages <= 1) return null;
  return (
    <nav class="row" aria-label="Pages">
      <span class="muted small number">
        Page {count(page)} of {count(totalPages)} · {count(total)} in all
      </span>
      <button type="button" class="button" disabled={!hasPrev} onClick={() => onTurn(page - 1)}>
        Previous
      </button>
      <button type="button" class="button" disabled={!hasNext} onClick={() => onTurn(page + 1)}>
        Next
      </button>
    </nav>
  );
}
