// What of Preact the page uses.
export class Component<P = any, S = any> {
  constructor(props?: P);
  props: any;
  state: any;
  setState(next: Partial<S>, done?: () => void): void;
}
export function h(...given: any[]): any;
export function render(what: any, where: Element): void;
export function createPortal(what: any, where: Element): any;
