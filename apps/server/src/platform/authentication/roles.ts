/** The organization's roles: name on the command line -> number in the chat API. */
export const roles = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600 } as const;

export type RoleName = keyof typeof roles;
export type Role = (typeof roles)[RoleName];

export const roleNames = Object.keys(roles) as readonly RoleName[];

export function isRole(number: number): number is Role {
  return Object.values<number>(roles).includes(number);
}

export function roleName(role: number): string {
  return roleNames.find((name) => roles[name] === role) ?? String(role);
}
